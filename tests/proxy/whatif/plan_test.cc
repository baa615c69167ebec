#include "proxy/whatif/plan.h"

#include <gmock/gmock.h>

#include "tests/proxy/whatif/recorded_site.h"

namespace reprise::whatif {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kFrame = "https://a.test/frame";
constexpr auto kLater = "a later what-if sets the same: ";

class PlanTest : public testing::Test {
 protected:
  void make(const std::vector<std::string>& texts) {
    auto const interventions = interventions_of(texts);
    requests_ = PageRequests::read(site_.reader(), 1, interventions);
    effects_.assign(interventions.size(), {});
    plan_ = make_plan(requests_, interventions, effects_);
  }
  const ResponsePlan& of(std::string_view url) {
    for (const PageRequest& each : requests_.all()) {
      if (each.url == url) return plan_.responses[each.ordinal];
    }
    throw std::out_of_range(std::string(url));
  }
  /// "0 https://a.test/x.js", with "+" for one that is asked for with CORS.
  std::vector<std::string> mentions(std::string_view url) {
    std::vector<std::string> shown;
    for (auto const& each : of(url).mentions) {
      shown.push_back(std::to_string(each.by) + " " + each.resource->url +
                      (each.resource->cors ? "+" : ""));
    }
    return shown;
  }
  std::string remark(std::size_t number) {
    auto const& remarks = effects_.at(number).remarks;
    return remarks.empty() ? "" : remarks.front().text();
  }
  RecordedSite site_;
  PageRequests requests_;
  std::vector<Effect> effects_;
  Plan plan_;
};

TEST_F(PlanTest, PreloadsInTheDocumentThatRequested) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get(kFrame, "text/html", kPage));
  site_.add(a_get("https://a.test/x.js", "text/javascript", kPage));
  make({"type=script: preload", "type=script: early-hints"});
  EXPECT_THAT(mentions(kPage), ElementsAre("0 https://a.test/x.js", "1 https://a.test/x.js"));
  EXPECT_THAT(mentions(kFrame), IsEmpty());
}

TEST_F(PlanTest, RefusesToPreloadWhatCannotBe) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get(kFrame, "text/html", kPage));
  site_.add(a_get("https://a.test/v.mp4", "video/mp4", kPage));
  auto failed = a_get("https://a.test/gone.js", "", kPage);
  failed.response = {};
  failed.outcome = Outcome::kOriginFailed;
  site_.add(asked_with(failed, "Sec-Fetch-Dest", "script"));
  auto posted = a_get("https://a.test/query", "application/json", kPage);
  posted.request.method = "POST";
  site_.add(asked_with(posted, "Sec-Fetch-Dest", "empty"));
  make({"path=/frame: preload", "type=video/*: early-hints", "path=/gone.js: preload",
        "path=/query: preload"});
  EXPECT_EQ(remark(0), "a document cannot be preloaded: https://a.test/frame");
  EXPECT_EQ(remark(1), "a video cannot be preloaded: https://a.test/v.mp4");
  EXPECT_EQ(remark(2), "a script cannot be preloaded: https://a.test/gone.js");
  EXPECT_EQ(remark(3), "a POST cannot be preloaded: https://a.test/query");
  EXPECT_THAT(mentions(kPage), IsEmpty());
}

TEST_F(PlanTest, TellsThatNoDocumentRequestedIt) {
  site_.add(a_get("https://a.test/x.js", "text/javascript"));
  make({"*: preload", "*: preconnect", "*: defer"});
  EXPECT_EQ(remark(0), "no document requested it: https://a.test/x.js");
  EXPECT_EQ(remark(1), "no document requested it: https://a.test/x.js");
  EXPECT_EQ(remark(2), "the recording has no document: https://a.test/x.js");
}

TEST_F(PlanTest, MentionsAResourceOnceHoweverOftenItWasRequested) {
  site_.add(a_get(kPage, "text/html"));
  for (int i = 0; i < 3; ++i) site_.add(a_get("https://b.test/x.js", "text/javascript", kPage));
  make({"type=script: preload", "type=script: preconnect", "type=script: async"});
  EXPECT_THAT(mentions(kPage), ElementsAre("0 https://b.test/x.js", "1 https://b.test/x.js",
                                           "2 https://b.test/x.js"));
  EXPECT_EQ(effects_[0].selected, 3);
  EXPECT_EQ(remark(0), "");
}

TEST_F(PlanTest, ConnectsToAnOriginOnceForEachMode) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://b.test/1.png", "image/png", kPage));
  site_.add(a_get("https://b.test/2.png", "image/png", kPage));
  site_.add(a_get("https://b.test/f.woff2", "font/woff2", kPage));
  make({"host=b.test: preconnect"});
  EXPECT_THAT(mentions(kPage), ElementsAre("0 https://b.test/1.png", "0 https://b.test/f.woff2+"));
}

TEST_F(PlanTest, MentionsInEveryDocument) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://a.test/x.png", "image/png", kPage));
  site_.add(a_get(kFrame, "text/html", kPage));
  make({"type=image: lazy"});
  EXPECT_THAT(mentions(kPage), ElementsAre("0 https://a.test/x.png"));
  EXPECT_THAT(mentions(kFrame), ElementsAre("0 https://a.test/x.png"));
}

TEST_F(PlanTest, TakesTheLaterOfTwoThatSetTheSame) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://a.test/x.js", "text/javascript", kPage));
  site_.add(a_get("https://a.test/y.js", "text/javascript", kPage));
  make({"type=script: async", "path=/x.js: defer", "path=/x.js: priority=high",
        "type=script: priority=low"});
  EXPECT_THAT(mentions(kPage), ElementsAre("1 https://a.test/x.js", "3 https://a.test/x.js",
                                           "0 https://a.test/y.js", "3 https://a.test/y.js"));
  EXPECT_EQ(remark(0), kLater + std::string("https://a.test/x.js"));
  EXPECT_EQ(remark(2), kLater + std::string("https://a.test/x.js"));
  EXPECT_EQ(remark(3), "");
}

TEST_F(PlanTest, TakesTheLaterAlsoWhereItSelectsAnEarlierRequest) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://a.test/x.js", "text/javascript", kPage));
  site_.add(a_get("https://a.test/x.js", "text/javascript", kPage));
  make({"number=3: async", "number=2: defer"});
  EXPECT_THAT(mentions(kPage), ElementsAre("1 https://a.test/x.js"));
  EXPECT_EQ(remark(0), kLater + std::string("https://a.test/x.js"));
}

TEST_F(PlanTest, PutsInlineBeforeEverythingButAPreconnect) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://a.test/x.js", "text/javascript", kPage));
  make({"type=script: inline", "type=script: preload", "type=script: async",
        "type=script: preconnect"});
  EXPECT_THAT(mentions(kPage), ElementsAre("3 https://a.test/x.js", "0 https://a.test/x.js"));
  EXPECT_EQ(remark(1), "another what-if makes it inline: https://a.test/x.js");
  EXPECT_EQ(remark(2), "another what-if makes it inline: https://a.test/x.js");
}

TEST_F(PlanTest, SaysWhyTheEarlierOfTwoIsNotMade) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://a.test/x.js", "text/javascript", kPage));
  make({"*: compress=br", "*: compress=off", "type=script: preload", "path=/x.js: preload"});
  EXPECT_EQ(of(kPage).compress, 1);
  EXPECT_EQ(remark(0), kLater + std::string("https://a.test/ and 1 more"));
  EXPECT_EQ(remark(3), "another what-if does the same: https://a.test/x.js");
}

TEST_F(PlanTest, HostsAreGoneIfNothingOfThemIsLeft) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://b.test/1.js", "text/javascript", kPage));
  site_.add(a_get("https://b.test/2.js", "text/javascript", kPage));
  site_.add(a_get("https://c.test/1.js", "text/javascript", kPage));
  auto failed = a_get("https://c.test/2.js", "", kPage);
  failed.response = {};
  failed.outcome = Outcome::kOriginFailed;
  site_.add(failed);
  make({"path=/1.js: drop"});
  EXPECT_THAT(plan_.gone_hosts, ElementsAre("c.test"));
}

TEST_F(PlanTest, LeavesConditionsAlone) {
  site_.add(a_get(kPage, "text/html"));
  make({"*: think=1", "*: rtt=+1", "*: coalesce", "*: protocol=h2"});
  EXPECT_THAT(plan_.responses, IsEmpty());
  for (const Effect& each : effects_) EXPECT_EQ(each.selected, 0);
}

TEST_F(PlanTest, IsBoundedHoweverManyDocumentsThereAre) {
  // 2,100 documents and as many images would mention each other 4.4 million times.
  for (int i = 0; i < 2'100; ++i) {
    auto const name = "https://a.test/" + std::to_string(i);
    site_.add(a_get(name, "text/html"));
    site_.add(a_get(name + ".png", "image/png", name));
  }
  make({"type=image: lazy"});
  std::size_t mentions = 0;
  for (auto const& [ordinal, plan] : plan_.responses) mentions += plan.mentions.size();
  EXPECT_EQ(mentions, kMentionsMax);
  EXPECT_THAT(remark(0), testing::HasSubstr("the recording has too many documents"));
}

TEST_F(PlanTest, AConditionOfWhatIsDroppedSaysWhoDropsIt) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://a.test/x.js", "text/javascript", kPage));
  make({"type=script: think=+10ms", "path=/x.js: drop", "type=html: think=+10ms"});
  EXPECT_EQ(remark(0), "it is dropped by 'path=/x.js: drop': https://a.test/x.js");
  EXPECT_EQ(refusal(effects_[0]), "--what-if '' changes nothing\n  " + remark(0));
  EXPECT_EQ(remark(2), "");
}

}  // namespace
}  // namespace reprise::whatif
