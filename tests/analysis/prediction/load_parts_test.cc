#include "analysis/prediction/load_parts.h"

#include <gmock/gmock.h>

#include "analysis/dependency/learn.h"
#include "tests/analysis/dependency/observed_trees.h"

namespace reprise {
namespace {

/// A request of a load that is written down phase by phase, in ms.
struct Phases {
  std::string url;
  double start, dns, connect, tls, queued, wait, receive;
  const char* protocol = "h2";
  const char* bytes = "0";
  const char* type = "";
  const char* priority = "";
  double send = 0;
};

ObservedPage load_of(const std::vector<Phases>& requests) {
  ObservedPage page;
  for (Phases const& each : requests) {
    auto const parent = static_cast<std::uint32_t>(page.calls.calls.size());
    auto now = static_cast<std::int64_t>(each.start * 1000);
    Call call{.name = each.url, .start_us = now};
    call.set("method", "GET");
    call.set("protocol", each.protocol);
    call.set("bytes", each.bytes);
    call.set("type", each.type);
    call.set("priority", each.priority);
    page.calls.calls.push_back(std::move(call));
    for (auto const& [name, length] :
         {std::pair("queued", each.queued), std::pair("dns", each.dns),
          std::pair("connect", each.connect), std::pair("tls", each.tls),
          std::pair("send", each.send), std::pair("wait", each.wait),
          std::pair("receive", each.receive)}) {
      auto const end = now + static_cast<std::int64_t>(length * 1000);
      if (end > now) {
        page.calls.calls.push_back({.kind = CallKind::kPhase,
                                    .name = name,
                                    .start_us = now,
                                    .end_us = end,
                                    .parent = parent});
      }
      now = end;
    }
    page.calls.calls[parent].end_us = now;
  }
  page.milestones[static_cast<std::size_t>(Milestone::kLoadEvent)] = 900'000;
  return page;
}

struct Taken {
  DependencyGraph graph;
  LoadParts parts;

  explicit Taken(const ObservedPage& load, const PredictionLink& link = {})
      : graph(learn_dependencies({&load, 1})), parts(load_parts(graph, load, link)) {}
  const NodeParts& of(const std::string& url) const {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].name == url) return parts.nodes[i];
    }
    ADD_FAILURE() << url;
    return parts.nodes.front();
  }
};

TEST(LoadParts, GiveTheFirstConnectionToTheOrigin) {
  Taken const taken(load_of({{"https://a.test/", 0, 5, 20, 30, 2, 70, 10},
                             {"https://a.test/b", 10, 0, 0, 0, 50, 40, 0},
                             {"https://a.test/c", 140, 0, 20, 30, 0, 40, 0},
                             {"https://b.test/d", 150, 0, 0, 0, 3, 40, 0}}));
  ASSERT_EQ(taken.parts.origins.size(), 2);
  EXPECT_EQ(taken.parts.origins[0].dns_us, 5'000);
  EXPECT_EQ(taken.parts.origins[0].sum(), 55'000);
  EXPECT_EQ(taken.parts.origins[1].sum(), 0);
  EXPECT_EQ(taken.of("https://a.test/").own_setup.sum(), 0);
  EXPECT_EQ(taken.of("https://a.test/").hold_us, 2'000);
  EXPECT_EQ(taken.of("https://a.test/").queue_us, 0);
  EXPECT_EQ(taken.of("https://a.test/b").hold_us, 0) << "the connection was being made";
  EXPECT_EQ(taken.of("https://a.test/b").queue_us, 3'000) << "after the connection was there";
  EXPECT_EQ(taken.of("https://a.test/c").own_setup.sum(), 50'000);
  EXPECT_EQ(taken.of("https://b.test/d").queue_us, 3'000);
  EXPECT_EQ(taken.of("https://a.test/").round_trip_us, 20'000) << "that of connecting";
  EXPECT_EQ(taken.of("https://a.test/").think_us, 50'000);
}

TEST(LoadParts, KnowWhichConnectionEachRequestUsed) {
  auto load = load_of({{"https://a.test/", 0, 5, 20, 30, 0, 70, 0},
                       {"https://b.test/b", 130, 0, 0, 0, 20, 40, 0},
                       {"https://b.test/c", 135, 0, 0, 0, 15, 40, 0},
                       {"https://a.test/d", 140, 0, 20, 30, 0, 40, 0},
                       {"https://a.test/e", 142, 0, 0, 0, 50, 40, 0}});
  auto const* id = "11122";
  for (Call& call : load.calls.calls) {
    if (call.kind == CallKind::kRequest) call.set("connection", {*id++});
  }
  Taken const taken(load);
  EXPECT_THAT(taken.parts.shares, testing::ElementsAre(0, 0, 2));
  EXPECT_EQ(taken.parts.origins[1].dns_us, 20'000) << "its own, until the first one is sent";
  EXPECT_EQ(taken.parts.origins[1].sum(), 20'000);
  EXPECT_EQ(taken.of("https://b.test/c").queue_us, 0);
  EXPECT_EQ(taken.parts.origins[2].sum(), 50'000) << "of requests without cookies";
  EXPECT_EQ(taken.of("https://a.test/d").own_setup.sum(), 0);
  EXPECT_EQ(taken.of("https://a.test/e").queue_us, 2'000);
}

TEST(LoadParts, TellALookUpBesideTheConnectionOfAnotherHost) {
  auto load = load_of({{"https://b.test/", 30, 0, 0, 0, 45, 40, 0},
                       {"https://a.test/", 0, 5, 20, 30, 0, 70, 0},
                       {"https://c.test/", 60, 0, 0, 0, 300, 40, 0}});
  for (Call& call : load.calls.calls) {
    if (call.kind == CallKind::kRequest) call.set("connection", "1");
  }
  Taken const taken(load);
  auto const origin = [&](const char* url) { return taken.of(url).origin; };
  for (auto const* url : {"https://b.test/", "https://c.test/"}) {
    EXPECT_EQ(taken.parts.shared_by(origin(url)), origin("https://a.test/")) << "which made it";
    EXPECT_EQ(taken.parts.origins[origin(url)].dns_us, 20'000) << "not longer than a round trip";
  }
  EXPECT_EQ(taken.of("https://c.test/").queue_us, 280'000) << "for something else";
}

TEST(LoadParts, KnowTheScriptsThatTheBodyWaitsFor) {
  auto load =
      load_of({{"https://a.test/", 0, 5, 20, 30, 0, 70, 10, "h2", "0", "Document", "VeryHigh"},
               {"https://a.test/a.js", 140, 0, 0, 0, 0, 40, 0, "h2", "0", "Script", "High"},
               {"https://a.test/b.js", 141, 0, 0, 0, 0, 40, 0, "h2", "0", "Script", "High"},
               {"https://a.test/c.js", 142, 0, 0, 0, 0, 40, 0, "h2", "0", "Script", "High"}});
  for (Call& call : load.calls.calls) {
    if (call.attribute("type") == "Script") call.set("initiator", "https://a.test/");
    if (call.name.ends_with("/b.js")) call.set("render_blocking", "in_body_parser_blocking");
    if (call.name.ends_with("/c.js")) call.set("render_blocking", "non_blocking");
  }
  Taken const taken(load);
  EXPECT_TRUE(taken.of("https://a.test/a.js").is_of_head);
  EXPECT_FALSE(taken.of("https://a.test/b.js").is_of_head);
  EXPECT_FALSE(taken.of("https://a.test/c.js").is_of_head) << "a module";
}

TEST(LoadParts, KnowWhatTheBrowserDelayedBeforeItNeededAConnection) {
  Taken const taken(load_of({{"https://a.test/", 0, 5, 20, 30, 0, 70, 10},
                             {"https://a.test/b", 140, 0, 0, 0, 30, 40, 0}}));
  EXPECT_EQ(taken.of("https://a.test/b").hold_us, 30'000);
  EXPECT_EQ(taken.of("https://a.test/b").queue_us, 0);
}

/// A request for a host that has no address.
void add_missing(ObservedPage& page, const char* url, std::int64_t start_ms, std::int64_t end_ms) {
  Call call{.name = url, .start_us = start_ms * 1000, .end_us = end_ms * 1000};
  call.set("method", "GET");
  call.set("failure", "net::ERR_NAME_NOT_RESOLVED");
  page.calls.calls.push_back(std::move(call));
}

TEST(LoadParts, TellTheLookUpsOfANameThatDoesNotExist) {
  auto load = load_of({{"https://a.test/", 0, 5, 20, 30, 2, 70, 10}});
  add_missing(load, "https://twice.test/", 100, 150);
  add_missing(load, "https://joined.test/", 120, 150);
  add_missing(load, "https://known.test/", 160, 161);
  Taken const taken(load);
  EXPECT_TRUE(taken.of("https://twice.test/").is_nameless());
  EXPECT_EQ(taken.of("https://twice.test/").own_setup.dns_us, 30'000);
  EXPECT_EQ(taken.of("https://twice.test/").second_look_up_us, 20'000) << "a round trip";
  EXPECT_EQ(taken.of("https://joined.test/").own_setup.dns_us, 30'000);
  EXPECT_EQ(taken.of("https://joined.test/").second_look_up_us, 0);
  EXPECT_FALSE(taken.of("https://known.test/").is_nameless());
  EXPECT_EQ(taken.of("https://known.test/").think_us + taken.of("https://known.test/").tail_us,
            1'000);
}

TEST(LoadParts, TakeWhatALookUpWaitedForInTheLinkOutOfIt) {
  // 14,000 bytes leave the link from 80 to 220. Without them it would take 40.
  auto load = load_of({{"https://a.test/", 0, 0, 20, 0, 0, 20, 0},
                       {"https://a.test/b", 60, 0, 0, 0, 0, 20, 140, "h2", "14000", "Image"}});
  add_missing(load, "https://missing.test/", 70, 240);
  Taken const taken(load, {.bytes_per_second = 100'000, .rtt_us = 20'000});
  EXPECT_NEAR(taken.of("https://missing.test/").own_setup.dns_us, 20'000, 2'000);
  EXPECT_EQ(taken.of("https://missing.test/").second_look_up_us, 20'000);
}

TEST(LoadParts, TellSendingFromThinking) {
  Taken const taken(load_of({{"https://a.test/", 0, 0, 20, 30, 0, 70, 10, "h2", "0", "", "", 25},
                             {"https://a.test/b", 200, 0, 0, 0, 0, 10, 5, "h2", "0", "", "", 25}}));
  EXPECT_EQ(taken.of("https://a.test/").send_us, 25'000);
  EXPECT_EQ(taken.of("https://a.test/").think_us, 50'000);
  EXPECT_EQ(taken.of("https://a.test/b").send_us, 15'000) << "the rest is in the round trip";
  EXPECT_EQ(taken.of("https://a.test/b").think_us, 0);
}

TEST(LoadParts, TellHoldingBackFromQueueing) {
  // The second one asks for the connection while the first, which makes it at 130, is held.
  Taken const taken(load_of({{"https://a.test/", 0, 5, 20, 30, 130, 40, 0},
                             {"https://a.test/b", 100, 0, 0, 0, 90, 40, 0}}));
  EXPECT_EQ(taken.of("https://a.test/").hold_us, 130'000);
  EXPECT_EQ(taken.of("https://a.test/b").hold_us, 30'000);
  EXPECT_EQ(taken.of("https://a.test/b").queue_us, 5'000) << "sent at 190, the first one at 185";
}

TEST(LoadParts, TakeAFailureWithoutAnAnswerForNoRequest) {
  auto load = load_of({{"https://a.test/", 0, 5, 20, 30, 0, 70, 10},
                       {"https://b.test/manifest", 60, 0, 0, 0, 0, 90, 0},
                       {"https://b.test/style", 70, 5, 20, 30, 0, 40, 0}});
  for (Call& call : load.calls.calls) {
    if (call.name.ends_with("/manifest")) call.set("failure", "net::ERR_FAILED");
  }
  Taken const taken(load);
  EXPECT_TRUE(taken.of("https://b.test/manifest").is_local);
  EXPECT_EQ(taken.of("https://b.test/manifest").think_us, 90'000);
  EXPECT_EQ(taken.parts.origins[1].sum(), 55'000) << "it used no connection";
  for (Call& call : load.calls.calls) {
    if (call.name.ends_with("/manifest")) call.set("status", "200");
  }
  EXPECT_FALSE(Taken(load).of("https://b.test/manifest").is_local) << "its body failed";
}

TEST(LoadParts, KnowWhatTheBrowserCanHoldBack) {
  Taken const taken(
      load_of({{"https://a.test/", 0, 5, 20, 30, 0, 70, 10, "h2", "0", "Document", "VeryHigh"},
               {"https://a.test/s", 90, 0, 0, 0, 0, 40, 0, "h2", "0", "Script", "High"},
               {"https://a.test/m", 90, 0, 0, 0, 0, 40, 0, "h2", "0", "Script", "Medium"},
               {"https://a.test/i", 90, 0, 0, 0, 0, 40, 0, "h2", "0", "Image", "High"},
               {"https://a.test/u", 90, 0, 0, 0, 0, 40, 0, "h2", "0", "Image", ""}}));
  EXPECT_FALSE(taken.of("https://a.test/s").can_be_held_back);
  EXPECT_TRUE(taken.of("https://a.test/m").can_be_held_back);
  EXPECT_TRUE(taken.of("https://a.test/i").can_be_held_back) << "its priority was low at first";
  EXPECT_FALSE(taken.of("https://a.test/u").can_be_held_back) << "another browser's";
}

TEST(LoadParts, KnowAConnectionThatWasThereBeforeAllRequests) {
  Taken const taken(load_of({{"https://a.test/", 0, 0, 0, 0, 1, 70, 10},
                             {"https://a.test/font", 90, 0, 20, 30, 0, 40, 0}}));
  EXPECT_EQ(taken.parts.origins[0].sum(), 0) << "a preconnect, for example";
  EXPECT_EQ(taken.of("https://a.test/font").own_setup.sum(), 50'000);
  EXPECT_EQ(taken.of("https://a.test/").queue_us, 1'000);
}

TEST(LoadParts, KnowWhichConnectionWasThereFirst) {
  // A font, which browsers ask for over a connection without cookies, started before the script.
  Taken const taken(load_of({{"https://a.test/", 0, 5, 20, 30, 0, 70, 10},
                             {"https://b.test/font", 60, 0, 30, 30, 60, 40, 0},
                             {"https://b.test/image", 60, 0, 0, 0, 91, 40, 0},
                             {"https://b.test/early", 60, 0, 0, 0, 89.5, 40, 0},
                             {"https://b.test/script", 100, 0, 20, 30, 0, 40, 0}}));
  EXPECT_EQ(taken.parts.origins[1].sum(), 50'000);
  EXPECT_EQ(taken.of("https://b.test/font").own_setup.sum(), 60'000);
  EXPECT_EQ(taken.of("https://b.test/script").own_setup.sum(), 0);
  EXPECT_EQ(taken.of("https://b.test/image").hold_us, 40'000) << "until it was begun";
}

TEST(LoadParts, FindTheBeginningOfAConnectionThatChromiumDoesNotShow) {
  // The connection was begun for the image, 80 ms before the script that shows the end of it.
  auto const taken = [](double connect_ms) {
    return Taken(load_of({{"https://a.test/", 0, 5, 20, 30, 0, 70, 10},
                          {"https://b.test/held", 20, 0, 0, 0, 150 + connect_ms, 40, 0},
                          {"https://b.test/image", 60, 0, 0, 0, 110 + connect_ms, 40, 0},
                          {"https://b.test/script", 140, 0, connect_ms, 30, 0, 40, 0}}),
                 {.rtt_us = 20'000});
  };
  Taken const hidden = taken(5);
  EXPECT_EQ(hidden.parts.origins[1].connect_us, 20'000);
  EXPECT_EQ(hidden.parts.origins[1].dns_us, 65'000);
  EXPECT_EQ(hidden.of("https://b.test/image").hold_us, 0);
  EXPECT_EQ(hidden.of("https://b.test/held").hold_us, 40'000) << "it was held back before";
  Taken const seen = taken(20);
  EXPECT_EQ(seen.parts.origins[1].sum(), 50'000);
  EXPECT_EQ(seen.of("https://b.test/image").hold_us, 80'000) << "something else held it";
}

TEST(LoadParts, KnowWhenTheDocumentIsTakenUp) {
  auto load = load_of({{"https://a.test/", 0, 0, 20, 30, 0, 30, 50, "h2", "0", "Document"},
                       {"https://a.test/s", 110, 0, 0, 0, 0, 40, 0, "h2", "0", "Script"}});
  for (Call& call : load.calls.calls) {
    if (call.name.ends_with("/s")) call.set("initiator", "https://a.test/");
  }
  EXPECT_EQ(Taken(load).of("https://a.test/").taken_up_us, 0) << "nothing is known of the thread";
  for (auto const& [name, start_ms] :
       {std::pair("parse", 70), {"script", 85}, {"parse", 95}, {"parse", 120}}) {
    load.calls.calls.push_back({.kind = CallKind::kTask,
                                .name = name,
                                .start_us = start_ms * 1000,
                                .end_us = start_ms * 1000 + 2'000});
  }
  EXPECT_EQ(Taken(load).of("https://a.test/").taken_up_us, 15'000);
  EXPECT_EQ(Taken(load).of("https://a.test/s").taken_up_us, 0);
}

TEST(LoadParts, LeaveWaitingForAConnectionOfHttp1ToTheModel) {
  Taken const taken(load_of({{"http://a.test/", 0, 0, 20, 0, 4, 30, 10, "http/1.1"},
                             {"http://a.test/b", 40, 0, 0, 0, 25, 30, 10, "http/1.1"}}));
  EXPECT_EQ(taken.of("http://a.test/").hold_us, 4'000);
  EXPECT_EQ(taken.of("http://a.test/b").hold_us, 0);
  EXPECT_EQ(taken.of("http://a.test/b").queue_us, 0);
  EXPECT_EQ(taken.of("http://a.test/b").protocol, PredictedProtocol::kH1);
}

TEST(LoadParts, TakeWhatIsCachedForNoRequest) {
  auto load = load_of({{"https://a.test/", 0, 5, 20, 30, 2, 70, 10},
                       {"https://b.test/cached", 60, 0, 0, 0, 0, 3, 2, "h2", "14600"},
                       {"https://b.test/sent", 140, 5, 20, 30, 0, 40, 0}});
  for (Call& call : load.calls.calls) {
    if (call.name.ends_with("/cached")) call.set("cached", "yes");
  }
  Taken const taken(load);
  auto const& cached = taken.of("https://b.test/cached");
  EXPECT_TRUE(cached.is_local);
  EXPECT_EQ(cached.bytes, 0);
  EXPECT_EQ(cached.round_trip_us, 0);
  EXPECT_EQ(cached.think_us, 3'000);
  EXPECT_EQ(cached.tail_us, 2'000);
  EXPECT_EQ(taken.parts.origins[1].sum(), 55'000) << "there was no connection before";
  EXPECT_EQ(taken.parts.round_trip_us, 20'000) << "not that of the cache";
  for (Call& call : load.calls.calls) {
    if (call.name == "receive") call.start_us = 10'000'000;
  }
  EXPECT_EQ(Taken(load).of("https://b.test/cached").think_us, 5'000);
  EXPECT_EQ(Taken(load).of("https://b.test/cached").tail_us, 0);
}

TEST(LoadParts, KnowWhatIsOnlyRevalidated) {
  auto load = load_of({{"https://a.test/", 0, 5, 20, 30, 2, 70, 10},
                       {"https://a.test/app.js", 150, 0, 0, 0, 0, 40, 0, "h2", "200"}});
  for (Call& call : load.calls.calls) {
    if (call.name.ends_with("/app.js")) call.set("status", "304");
  }
  Taken const taken(load);
  EXPECT_TRUE(taken.of("https://a.test/app.js").is_revalidated);
  EXPECT_FALSE(taken.of("https://a.test/").is_revalidated);
}

/// A segment in 1 ms, and a round trip of 20.
constexpr PredictionLink kLink{.bytes_per_second = 1.46e6, .rtt_us = 20'000};

TEST(LoadParts, TellWaitingInTheQueueFromThinking) {
  // Ten segments come out of the link from 50 to 60 ms, 30 ms after the server could have answered.
  Phases const image{"https://a.test/", 0, 0, 0, 0, 0, 51, 12, "h2", "14600"};
  auto const beside = [&](double start, double wait, double receive) {
    return Taken(
        load_of({image, {"https://b.test/", start, 0, 0, 0, 0, wait, receive, "h2", "2920"}}),
        kLink);
  };
  auto const waited = beside(32, 29, 1);  // could come to the link at 52, and began at 61
  EXPECT_NEAR(waited.of("https://a.test/").think_us, 30'000, 1);
  EXPECT_NEAR(waited.of("https://a.test/").tail_us, 3'000, 1);
  EXPECT_LE(waited.of("https://b.test/").think_us, 8'001) << "it came until then";
  EXPECT_NEAR(waited.of("https://b.test/").tail_us, 0, 1);
  auto const thought = beside(32, 49, 1);  // nothing was on the link at 80
  EXPECT_NEAR(thought.of("https://b.test/").think_us, 28'000, 1);
  Taken const unknown(load_of({image}), {.rtt_us = 20'000});
  EXPECT_NEAR(unknown.of("https://a.test/").think_us, 31'000, 1);
  EXPECT_NEAR(unknown.of("https://a.test/").tail_us, 12'000, 1);
}

TEST(LoadParts, TakeTheQueueOutOfALookUp) {
  auto const of = [](double start) {
    return Taken(load_of({{"https://a.test/", 0, 0, 0, 0, 0, 51, 9, "h2", "14600"},
                          {"https://b.test/", start, 26, 22, 21, 0, 25, 0}}),
                 kLink)
        .parts.origins[1];
  };
  // The answer to the look-up comes to the link at 54, when six segments are in its queue.
  auto const setup = of(34);
  EXPECT_NEAR(setup.dns_us, 20'000, 1);
  EXPECT_NEAR(setup.connect_us, 22'000, 1);
  EXPECT_NEAR(setup.tls_us, 21'000, 1);
  EXPECT_NEAR(of(100).dns_us, 26'000, 1) << "its resolver was slow";
}

TEST(LoadParts, SendScriptsOfAConnectionOneAfterAnother) {
  auto const load = [](const char* priority) {
    auto const script = [&](const char* url, double wait, double receive) {
      return Phases{url, 0, 0, 0, 0, 0, wait, receive, "h2", "7300", "Script", priority};
    };
    return load_of({script("https://a.test/1.js", 21, 4), script("https://a.test/2.js", 26, 4)});
  };
  Taken const in_order(load("High"), kLink);
  for (auto const* const url : {"https://a.test/1.js", "https://a.test/2.js"}) {
    EXPECT_LE(in_order.of(url).think_us, 1'001) << url << " not before the other one";
    EXPECT_NEAR(in_order.of(url).tail_us, 0, 1) << url;
    EXPECT_FALSE(in_order.of(url).incremental);
  }
  // If they shared the link, the first one would not be there after 25 ms.
  EXPECT_TRUE(Taken(load(""), kLink).of("https://a.test/1.js").incremental);
}

TEST(LoadParts, SeeWhatWaitedForALargeResponse) {
  // 50 segments: windows of 10 and 20, and the rest at once: from 20 to 83 ms.
  auto const taken = [&](const char* large_type, const char* small_priority, double wait_ms,
                         double receive_ms) {
    return Taken(load_of({{"https://a.test/large", 0, 0, 0, 0, 0, 21, 62, "h2", "73000", large_type,
                           "Low"},
                          {"https://a.test/small", 1, 0, 0, 0, 0, wait_ms, receive_ms, "h2", "300",
                           "Script", small_priority}}),
                 kLink)
        .of("https://a.test/small");
  };
  EXPECT_NEAR(taken("Script", "Low", 81.2, 0).think_us, 0, 2) << "right behind it";
  EXPECT_NEAR(taken("Script", "Low", 40, 41.2).think_us, 0, 2) << "its head came before";
  EXPECT_NEAR(taken("Script", "High", 83, 0).think_us, 62'000, 2'000) << "it goes first";
  EXPECT_NEAR(taken("Image", "Low", 83, 0).think_us, 62'000, 2'000) << "an image is of use in part";
  EXPECT_NEAR(taken("Script", "Low", 140, 1).think_us, 120'000, 2'000) << "its server took longer";
}

TEST(LoadParts, TakeWhatWaitedBehindTwoForReady) {
  // As above. The head of each response goes before the body of the one before.
  auto const taken = [](double late_ms) {
    return Taken(load_of({{"https://a.test/large", 0, 0, 0, 0, 0, 21, 62 + late_ms, "h2", "73000",
                           "Script", "Low"},
                          {"https://a.test/2.js", 1, 0, 0, 0, 0, 81.2 + late_ms, 7, "h2", "7300",
                           "Script", "Low"},
                          {"https://a.test/3.js", 1, 0, 0, 0, 0, 81.4 + late_ms, 7, "h2", "300",
                           "Script", "Low"}}),
                 kLink);
  };
  for (double const late_ms : {0, 10}) {
    Taken const of(taken(late_ms));
    EXPECT_NEAR(of.of("https://a.test/2.js").think_us, 0, 2) << late_ms;
    EXPECT_NEAR(of.of("https://a.test/3.js").think_us, 0, 2) << late_ms;
  }
}

TEST(LoadParts, DoNotLetOthersOvertakeAResponseThatTookLonger) {
  // As above; its server took 2 ms longer, so that the others could be there before it.
  Taken const taken(
      load_of({{"https://a.test/large", 0, 0, 0, 0, 0, 23, 62, "h2", "73000", "Script", "Low"},
               {"https://a.test/2.js", 1, 0, 0, 0, 0, 78, 12, "h2", "7300", "Script", "Low"},
               {"https://a.test/3.js", 1, 0, 0, 0, 0, 78, 13, "h2", "300", "Script", "Low"}}),
      kLink);
  EXPECT_NEAR(taken.of("https://a.test/large").think_us, 2'000, 10);
  for (auto const* const url : {"https://a.test/2.js", "https://a.test/3.js"}) {
    EXPECT_LT(taken.of(url).think_us, 2'000) << url;
    EXPECT_LT(taken.of(url).tail_us, 3'000) << url;
  }
}

TEST(LoadParts, LetNoImageOvertakeAScript) {
  // As above. Chromium gives the first images of a document a medium priority.
  for (auto const* const priority : {"Medium", "Low"}) {
    Taken const taken(
        load_of({{"https://a.test/large", 0, 0, 0, 0, 0, 23, 62, "h2", "73000", "Script", "High"},
                 {"https://a.test/i.png", 1, 0, 0, 0, 0, 78, 12, "h2", "2920", "Image", priority}}),
        kLink);
    EXPECT_LT(taken.of("https://a.test/i.png").think_us, 2'001) << priority;
    EXPECT_LT(taken.of("https://a.test/i.png").tail_us, 6'000) << priority;
  }
}

TEST(LoadParts, KnowTheWorkInAGap) {
  auto load = load_of({{"https://a.test/", 0, 0, 0, 0, 0, 50, 50}});
  // The load event follows 800 ms after the document.
  Taken const without(load);
  auto const& of_all = without.parts.nodes.back();
  EXPECT_EQ(of_all.gap_us, 800'000);
  EXPECT_EQ(of_all.busy_us, 800'000);
  for (auto const& [start, end] :
       {std::pair(50, 120), {200, 300}, {250, 260}, {290, 310}, {895, 950}}) {
    load.calls.calls.push_back(
        {.kind = CallKind::kTask, .name = "task", .start_us = start * 1000, .end_us = end * 1000});
  }
  Taken const with(load);
  EXPECT_EQ(with.parts.nodes.back().gap_us, 800'000);
  EXPECT_EQ(with.parts.nodes.back().busy_us, 20'000 + 110'000 + 5'000);
}

TEST(LoadParts, AreEmptyForWhatTheLoadDoesNotHave) {
  auto const load = load_of({{"https://a.test/", 0, 0, 0, 0, 0, 50, 10}});
  auto graph = learn_dependencies({&load, 1});
  ObservedPage const nothing;
  auto const parts = load_parts(graph, nothing, {});
  EXPECT_EQ(parts.nodes.size(), graph.nodes.size());
  EXPECT_FALSE(parts.nodes[0].present);
  EXPECT_TRUE(parts.origins.empty());
}

}  // namespace
}  // namespace reprise
