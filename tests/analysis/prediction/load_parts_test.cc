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
          std::pair("wait", each.wait), std::pair("receive", each.receive)}) {
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
  EXPECT_EQ(taken.parts.origins[0].round_trips(), 2) << "to the server";
  EXPECT_EQ(taken.parts.origins[1].sum(), 0);
  EXPECT_EQ(taken.of("https://a.test/").own_setup.sum(), 0);
  EXPECT_EQ(taken.of("https://a.test/").queue_us, 2'000);
  EXPECT_EQ(taken.of("https://a.test/b").queue_us, 3'000) << "after the connection was there";
  EXPECT_EQ(taken.of("https://a.test/c").own_setup.sum(), 50'000);
  EXPECT_EQ(taken.of("https://b.test/d").queue_us, 3'000);
  EXPECT_EQ(taken.of("https://a.test/").round_trip_us, 20'000) << "that of connecting";
  EXPECT_EQ(taken.of("https://a.test/").think_us, 50'000);
}

TEST(LoadParts, KnowAConnectionThatWasThereBeforeAllRequests) {
  Taken const taken(load_of({{"https://a.test/", 0, 0, 0, 0, 1, 70, 10},
                             {"https://a.test/font", 90, 0, 20, 30, 0, 40, 0}}));
  EXPECT_EQ(taken.parts.origins[0].sum(), 0) << "a preconnect, for example";
  EXPECT_EQ(taken.of("https://a.test/font").own_setup.sum(), 50'000);
  EXPECT_EQ(taken.of("https://a.test/").queue_us, 1'000);
}

TEST(LoadParts, LeaveWaitingForAConnectionOfHttp1ToTheModel) {
  Taken const taken(load_of({{"http://a.test/", 0, 0, 20, 0, 4, 30, 10, "http/1.1"},
                             {"http://a.test/b", 40, 0, 0, 0, 25, 30, 10, "http/1.1"}}));
  EXPECT_EQ(taken.of("http://a.test/").queue_us, 4'000);
  EXPECT_EQ(taken.of("http://a.test/b").queue_us, 0);
  EXPECT_EQ(taken.of("http://a.test/b").protocol, PredictedProtocol::kH1);
}

TEST(LoadParts, ShareTheLinkOfTheTransfersAndLeaveATail) {
  // 1 byte per us: both share from 70 ms on until the second one ends, at 130 ms.
  auto const load = load_of({{"https://a.test/", 0, 0, 0, 0, 0, 50, 100, "h2", "60000"},
                             {"https://a.test/b", 20, 0, 0, 0, 0, 50, 60, "h2", "30000"}});
  PredictionLink const link{.bytes_per_second = 1e6, .rtt_us = 25'000};
  Taken const taken(load, link);
  EXPECT_NEAR(taken.of("https://a.test/b").tail_us, 0, 1e-6);
  // 20 ms alone, 30 of 60 ms shared, and the last 10 of 60 KB alone: until 140.
  EXPECT_NEAR(taken.of("https://a.test/").tail_us, 10'000, 1e-6);
  EXPECT_NEAR(taken.of("https://a.test/").slow_start, 10. / 10.4, 1e-6)
      << "14.6 KB do not fill the round trip, 29.2 do";
  Taken const unknown(load, {.rtt_us = 25'000});
  EXPECT_NEAR(unknown.of("https://a.test/").tail_us, 100'000, 1e-6);
  EXPECT_EQ(unknown.of("https://a.test/").slow_start, 1);
  EXPECT_EQ(slow_start_us(60'000, 25'000, 0), 50'000) << "14.6, 29.2 KB and the rest";
}

TEST(LoadParts, SendScriptsOfAConnectionOneAfterAnother) {
  PredictionLink const link{.bytes_per_second = 1e6, .rtt_us = 20'000};
  auto const load = [](const char* priority) {
    auto const script = [&](const char* url, double receive) {
      return Phases{url, 0, 0, 0, 0, 0, 20, receive, "h2", "10000", "Script", priority};
    };
    return load_of({script("https://a.test/1.js", 10), script("https://a.test/2.js", 20)});
  };
  Taken const in_order(load("High"), link);
  EXPECT_NEAR(in_order.of("https://a.test/1.js").tail_us, 0, 1);
  EXPECT_NEAR(in_order.of("https://a.test/2.js").tail_us, 0, 1);
  // If they shared the link, the first one would not be there after 10 ms.
  Taken const unknown(load(""), link);
  EXPECT_TRUE(unknown.of("https://a.test/1.js").incremental);
  EXPECT_FALSE(in_order.of("https://a.test/1.js").incremental);
}

TEST(LoadParts, SeeWhatWasSentRightBehindALargeResponse) {
  PredictionLink const link{.bytes_per_second = 1e6, .rtt_us = 20'000};
  auto const taken = [&](const char* large_type, const char* small_priority, double wait_ms,
                         double receive_ms) {
    return Taken(load_of({{"https://a.test/large", 0, 0, 0, 0, 0, 20, 100, "h2", "70000",
                           large_type, "Low"},
                          {"https://a.test/small", 1, 0, 0, 0, 0, wait_ms, receive_ms, "h2", "300",
                           "Script", small_priority}}),
                 link)
        .of("https://a.test/small");
  };
  auto const behind = taken("Script", "Low", 121, 1);
  ASSERT_TRUE(behind.behind);
  EXPECT_EQ(behind.think_us, 0);
  auto const head_before = taken("Script", "Low", 40, 82);
  ASSERT_TRUE(head_before.behind);
  EXPECT_EQ(head_before.think_us, 0);
  EXPECT_NEAR(head_before.tail_us, 2'700, 1e-6) << "after the end of the large one, at 120";
  EXPECT_FALSE(taken("Script", "High", 121, 1).behind) << "it goes first";
  EXPECT_FALSE(taken("Image", "Low", 121, 1).behind) << "an image is of use in part";
  EXPECT_FALSE(taken("Script", "Low", 140, 1).behind) << "its server took longer";
  EXPECT_EQ(taken("Script", "Low", 140, 1).think_us, 120'000);
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
