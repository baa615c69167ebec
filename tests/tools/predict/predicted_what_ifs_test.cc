// What-ifs on a small recording, as the model of its page takes them.

#include "tools/predict/predicted_what_ifs.h"

#include <gmock/gmock.h>

#include "analysis/dependency/learn.h"
#include "base/http/url_parts.h"
#include "tests/analysis/dependency/observed_trees.h"
#include "tests/proxy/whatif/recorded_site.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kDocument = whatif::kPage;
const std::string kScript = "https://a.test/app.js";
const std::string kAd = "https://ads.test/ad.js?n=1";
const std::string kPicture = "https://ads.test/p.png";

class PredictedWhatIfs : public testing::Test {
 protected:
  PredictedWhatIfs() {
    auto const html =
        "<html><head><script src=/app.js></script></head><img src=https://ads.test/p.png>" +
        std::string(2000, ' ');
    site_.begin_session({kDocument});
    site_.add(whatif::a_get(kDocument, "text/html"), html);
    site_.add(whatif::a_get(kScript, "text/javascript", kDocument), std::string(5000, ';'));
    site_.add(whatif::a_get(kAd, "text/javascript", kDocument), ";");
    site_.add(whatif::a_get(kPicture, "image/png", kDocument), "png");
    for (int n = 0; n < 4; ++n) {
      // Its query is another one in each load.
      auto const ad = "https://ads.test/ad.js?n=" + std::to_string(10 + n);
      loads_.push_back(written_load({{kDocument, "Document", 0, 40, 60, ""},
                                     {kScript, "Script", 50, 90, 100, kDocument},
                                     {ad, "Script", 60, 90, 100, kDocument},
                                     {kPicture, "Image", 61, 90, 110, kDocument}}));
      loads_.back().milestones[static_cast<std::size_t>(Milestone::kLoadEvent)] = 120'000;
    }
    graph_ = learn_dependencies(loads_);
  }

  std::expected<PredictedChange, std::string> translated(const std::vector<std::string>& texts,
                                                         bool warm_cache = false) {
    whatif::ChangedSite const changed(site_, texts);
    auto const interventions = whatif::interventions_of(texts);
    return predicted_what_ifs({.recorded = site_.reader(),
                               .page = kDocument,
                               .before = site_.reader(),
                               .after = *changed.reader,
                               .interventions = interventions,
                               .effects = changed.effects,
                               .warm_cache = warm_cache},
                              graph_, loads_);
  }
  /// All that changes of a request, which `texts` can express.
  NodeChange change_of(const std::string& url, const std::vector<std::string>& texts,
                       bool warm_cache = false) {
    auto const all = translated(texts, warm_cache);
    if (!all) {
      ADD_FAILURE() << all.error();
      return {};
    }
    for (PageChange::Part const& part : all->change.parts) {
      DependencyNode const& node = graph_.nodes.at(part.nodes.at(0));
      if (node.name == url || node.label() == url) return part.change;
    }
    ADD_FAILURE() << "no change of " << url;
    return {};
  }
  std::string refusal(const std::vector<std::string>& texts, bool warm_cache = false) {
    auto const all = translated(texts, warm_cache);
    return all ? "" : all.error();
  }

  /// Of all requests to a host.
  void set_address(std::string_view host, std::string_view address) {
    for (ObservedPage& load : loads_) {
      for (Call& call : load.calls.calls) {
        bool const is_to_host =
            call.kind == CallKind::kRequest && url_parts(call.name).host == host;
        if (is_to_host) call.set("address", std::string(address) + ":443");
      }
    }
  }

  whatif::RecordedSite site_;
  std::vector<ObservedPage> loads_;
  DependencyGraph graph_;
};

TEST_F(PredictedWhatIfs, ChangeThinkTimesOneAfterAnother) {
  EXPECT_EQ(change_of(kScript, {"path=/app.js: think=+30ms"}).think_us, 30'000);
  EXPECT_EQ(change_of(kDocument, {"path=/app.js: think=+30ms"}).think_us, 0);
  auto const set = change_of(kScript, {"*: think=+30ms", "type=script: think=80ms"});
  EXPECT_EQ(set.think_factor, 0);
  EXPECT_EQ(set.think_us, 80'000);
  auto const times = change_of(kScript, {"*: think=+30ms", "type=script: think=x2"});
  EXPECT_EQ(times.think_factor, 2);
  EXPECT_EQ(times.think_us, 60'000);
}

TEST_F(PredictedWhatIfs, MakeNamesSlower) {
  std::vector<std::string> const texts{"host=ads.test: dns=+30ms", "type=image: dns=+5ms"};
  EXPECT_EQ(change_of(kPicture, texts).dns_us, 35'000);
}

TEST_F(PredictedWhatIfs, AddUpTheDistanceOfAHost) {
  std::vector<std::string> const both{"host=ads.test: rtt=+40ms", "*: rtt=+30ms"};
  EXPECT_EQ(change_of(kPicture, both).rtt_us, 70'000);
  EXPECT_EQ(change_of(kScript, both).rtt_us, 30'000);
}

TEST_F(PredictedWhatIfs, MoveCoalescedHostsWithThePageAndNotWithTheirOldNeighbours) {
  const std::string neighbour = "https://cdn.test/c.png";
  for (ObservedPage& load : loads_) {
    load = written_load({{kDocument, "Document", 0, 40, 60, ""},
                         {kPicture, "Image", 61, 90, 110, kDocument},
                         {neighbour, "Image", 62, 90, 110, kDocument}});
  }
  set_address("a.test", "10.0.0.1");
  set_address("ads.test", "10.0.0.2");
  set_address("cdn.test", "10.0.0.2");
  graph_ = learn_dependencies(loads_);
  auto const moved_us = [&](const std::vector<std::string>& texts) {
    return std::vector{change_of(kDocument, texts).rtt_us, change_of(kPicture, texts).rtt_us,
                       change_of(neighbour, texts).rtt_us};
  };
  EXPECT_THAT(moved_us({"host=ads.test: rtt=+40ms"}), ElementsAre(0, 40'000, 40'000));
  EXPECT_THAT(moved_us({"host=a.test: rtt=+40ms"}), ElementsAre(40'000, 0, 0));
  for (auto const* const further : {"host=ads.test: rtt=+40ms", "host=a.test: rtt=+40ms"}) {
    EXPECT_THAT(moved_us({further, "host=ads.test: coalesce"}), ElementsAre(40'000, 40'000, 0))
        << further;
  }
}

TEST_F(PredictedWhatIfs, SpeakTheProtocolOfTheLaterOneWhicheverRequestComesFirst) {
  EXPECT_EQ(change_of(kPicture, {"type=script: protocol=h1", "path=/p.png: protocol=h2"}).protocol,
            PredictedProtocol::kH2);
  EXPECT_EQ(change_of(kPicture, {"path=/p.png: protocol=h2", "type=script: protocol=h1"}).protocol,
            PredictedProtocol::kH1);
}

TEST_F(PredictedWhatIfs, SelectByConditionsWhatTheOthersHaveLeft) {
  std::vector<std::string> const texts{"path=/p.png: status=503", "status=503: think=+500ms"};
  EXPECT_EQ(change_of(kPicture, texts).think_us, 500'000);
  EXPECT_EQ(change_of(kScript, texts).think_us, 0);
}

TEST_F(PredictedWhatIfs, DrawThinkTimesOnceForAllThatHaveThem) {
  whatif::ChangedSite const changed(site_, {});
  std::vector<whatif::Intervention> interventions = whatif::interventions_of({"*: think=1ms"});
  auto think = *interventions[0].as<whatif::Think>();
  think.draws = {std::chrono::milliseconds(5), std::chrono::milliseconds(7)};
  interventions[0].action = think;
  auto const all = predicted_what_ifs({.recorded = site_.reader(),
                                       .before = site_.reader(),
                                       .after = site_.reader(),
                                       .interventions = interventions,
                                       .effects = {}},
                                      graph_, loads_);
  ASSERT_TRUE(all);
  EXPECT_EQ(std::ranges::count_if(all->change.parts,
                                  [](auto const& part) { return !part.think_draws_us.empty(); }),
            1);
  EXPECT_THAT(all->change.parts.back().nodes, testing::SizeIs(4));
  interventions.push_back(whatif::interventions_of({"*: think=x2"}).front());
  auto const before_any_load = predicted_what_ifs({.recorded = site_.reader(),
                                                   .before = site_.reader(),
                                                   .after = site_.reader(),
                                                   .interventions = interventions,
                                                   .effects = {}},
                                                  {}, {});
  ASSERT_FALSE(before_any_load);
  EXPECT_THAT(before_any_load.error(), HasSubstr("cannot be multiplied"));
}

TEST_F(PredictedWhatIfs, TellClearTextFromTls) {
  loads_.clear();
  for (int n = 0; n < 4; ++n) {
    loads_.push_back(written_load({{"http://a.test/", "Document", 0, 10, 15, ""},
                                   {kDocument, "Document", 16, 40, 60, ""},
                                   {kScript, "Script", 50, 90, 100, kDocument},
                                   {kPicture, "Image", 61, 90, 110, kDocument}}));
    loads_.back().calls.calls.at(0).set("protocol", "http/1.1");
  }
  graph_ = learn_dependencies(loads_);
  EXPECT_EQ(refusal({"host=ads.test: coalesce"}), "");
  EXPECT_EQ(change_of("http://a.test/", {"host=a.test: protocol=h1"}).protocol, std::nullopt);
  EXPECT_EQ(change_of(kScript, {"host=a.test: protocol=h1"}).protocol, PredictedProtocol::kH1);
}

TEST_F(PredictedWhatIfs, CountHttp3AsHttp2) {
  EXPECT_EQ(change_of(kPicture, {"host=ads.test: protocol=h1"}).protocol, PredictedProtocol::kH1);
  EXPECT_EQ(change_of(kPicture, {"host=ads.test: protocol=h2"}).protocol, PredictedProtocol::kH2);
  EXPECT_EQ(change_of(kPicture, {"host=ads.test: protocol=h3"}).protocol, PredictedProtocol::kH2);
}

TEST_F(PredictedWhatIfs, LetWhatSharesTheConnectionOfThePageSpeakHttp2) {
  auto const alone = change_of(kPicture, {"host=ads.test: coalesce"});
  EXPECT_TRUE(alone.coalesce);
  EXPECT_EQ(alone.protocol, PredictedProtocol::kH2);
  std::vector<std::string> const both{"host=ads.test: coalesce", "host=ads.test: protocol=h1"};
  EXPECT_EQ(change_of(kPicture, both).protocol, PredictedProtocol::kH2);
  EXPECT_EQ(change_of(kScript, both).protocol, std::nullopt);
  auto const own = change_of(kScript, {"*: coalesce"});
  EXPECT_FALSE(own.coalesce) << "it has the connection of the page";
  EXPECT_EQ(own.protocol, std::nullopt);
}

TEST_F(PredictedWhatIfs, AreRefusedWhereAReplayCannotShareTheConnection) {
  std::vector<std::string> texts{"host=ads.test: coalesce", "host=a.test: protocol=h1"};
  EXPECT_THAT(refusal(texts), HasSubstr("a.test speaks HTTP/1.1"));
  for (ObservedPage& load : loads_) load.calls.calls.at(0).set("protocol", "http/1.1");
  texts.pop_back();
  EXPECT_THAT(refusal(texts), HasSubstr("add --what-if 'host=a.test: protocol=h2'"));
  texts.push_back("host=a.test: protocol=h2");
  EXPECT_EQ(refusal(texts), "");
}

TEST_F(PredictedWhatIfs, FindRequestsWhoseQueryVaries) {
  EXPECT_EQ(change_of("https://ads.test/ad.js?n=*", {"path=/ad.js: think=-5ms"}).think_us, -5'000);
}

TEST_F(PredictedWhatIfs, CountTheBytesThatReallyChange) {
  auto const change = change_of(kScript, {"*: compress=br"});
  EXPECT_EQ(change.bytes_factor, 1);
  EXPECT_LT(change.bytes_added, -4'900);
  EXPECT_GT(change.bytes_added, -5'000);
  EXPECT_EQ(change_of(kPicture, {"type=script: compress=br"}).bytes_added, 0);
}

TEST_F(PredictedWhatIfs, TellRequestsOfOneUrlApart) {
  const std::string data = "https://a.test/data";
  auto check = whatif::a_get(data, "text/plain", kDocument);
  check.request.method = "OPTIONS";
  site_.add(check);
  site_.add(whatif::a_get(data, "application/json", kDocument), std::string(9000, ' '));
  site_.add(whatif::a_get(data, "application/json", kDocument), std::string(3000, ' '));
  for (ObservedPage& load : loads_) {
    load = written_load({{kDocument, "Document", 0, 40, 60, ""},
                         {data, "Preflight", 60, 90, 91, kDocument},
                         {data, "Fetch", 92, 120, 130, kDocument},
                         {data, "Fetch", 131, 150, 160, kDocument}});
    for (Call& call : load.calls.calls) {
      if (call.attribute("type") == "Preflight") call.set("method", "OPTIONS");
    }
  }
  graph_ = learn_dependencies(loads_);
  std::vector<std::string> const texts{"*: compress=br"};
  EXPECT_NEAR(change_of("OPTIONS " + data, texts).bytes_added, 0, 50);
  EXPECT_LT(change_of("GET " + data, texts).bytes_added, -8'900);
  EXPECT_LT(change_of("GET " + data + " #2", texts).bytes_added, -2'900);
  EXPECT_GT(change_of("GET " + data + " #2", texts).bytes_added, -3'000);
}

TEST_F(PredictedWhatIfs, DropARequestOrItsWholeHost) {
  EXPECT_TRUE(change_of(kPicture, {"path=/p.png: drop"}).refused);
  EXPECT_FALSE(change_of(kPicture, {"path=/p.png: drop"}).drop);
  EXPECT_TRUE(change_of(kPicture, {"host=ads.test: drop"}).drop);
  EXPECT_FALSE(change_of(kScript, {"host=ads.test: drop"}).drop);
}

TEST_F(PredictedWhatIfs, AreRefusedIfThePageItselfWouldBeGone) {
  EXPECT_THAT(refusal({"host=a.test: drop"}), HasSubstr("the page itself would be gone"));
  EXPECT_EQ(refusal({"path=/app.js: drop"}), "");
  graph_ = {};
  loads_.clear();
  EXPECT_THAT(refusal({"path=/: drop"}), HasSubstr("gone")) << "before anything is loaded";
}

TEST_F(PredictedWhatIfs, FollowWhatDocumentsMention) {
  EXPECT_EQ(change_of(kScript, {"path=/app.js: async"}).loading, ScriptLoading::kAsync);
  EXPECT_EQ(change_of(kScript, {"type=script: defer"}).loading, ScriptLoading::kDefer);
  EXPECT_EQ(change_of("https://ads.test/ad.js?n=*", {"type=script: defer"}).loading, std::nullopt)
      << "no document mentions it";
  EXPECT_TRUE(change_of(kPicture, {"path=/p.png: preload"}).preload);
  EXPECT_EQ(change_of(kScript, {"path=/app.js: priority=low"}).urgency, kUrgencyLow);
  EXPECT_TRUE(change_of(kScript, {"path=/app.js: inline"}).at_hand);
  EXPECT_GT(change_of(kDocument, {"path=/app.js: inline"}).bytes_added, 4'900);
}

TEST_F(PredictedWhatIfs, UseAWarmCacheOnly) {
  auto const warm = change_of(kPicture, {"type=image: cache=1y"}, true);
  EXPECT_TRUE(warm.cached);
  EXPECT_FALSE(warm.at_hand) << "it may come from the cache without the change";
  auto const cold = translated({"type=image: cache=1y"});
  ASSERT_TRUE(cold);
  EXPECT_THAT(cold->remarks, ElementsAre(HasSubstr("cold cache")));
  EXPECT_THAT(refusal({"type=image: cache=0"}, true), HasSubstr("is not known"));
}

TEST_F(PredictedWhatIfs, TakeNoPostFromTheCache) {
  std::string const query = "https://a.test/query";
  auto posted = whatif::a_get(query, "application/json", kDocument);
  posted.request.method = "POST";
  site_.add(posted, "{}");
  for (ObservedPage& load : loads_) {
    Call call{.name = query, .start_us = 61'000, .end_us = 100'000};
    call.set("method", "POST");
    call.set("type", "Fetch");
    call.set("status", "200");
    call.set("initiator", kDocument);
    load.calls.calls.push_back(std::move(call));
  }
  graph_ = learn_dependencies(loads_);
  EXPECT_EQ(change_of(query, {"path=/query: think=+30ms"}).think_us, 30'000);
  auto const all = translated({"*: cache=1y"}, true);
  ASSERT_TRUE(all) << all.error();
  for (PageChange::Part const& part : all->change.parts) {
    for (auto const node : part.nodes) {
      EXPECT_EQ(part.change.cached, graph_.nodes.at(node).method == "GET");
    }
  }
}

TEST_F(PredictedWhatIfs, SayWhatTheModelDoesNotHave) {
  EXPECT_THAT(refusal({"type=image: lazy"}),
              AllOf(HasSubstr("'type=image: lazy'"), HasSubstr("in view")));
  EXPECT_THAT(refusal({"path=/app.js: status=503"}), HasSubstr(kScript));
  EXPECT_THAT(refusal({"path=/p.png: status=503"}), IsEmpty()) << "nothing follows from an image";
}

}  // namespace
}  // namespace reprise
