#include "proxy/whatif/conditions.h"

#include <gmock/gmock.h>

#include "tests/proxy/whatif/recorded_site.h"

namespace reprise::whatif {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class ConditionsTest : public testing::Test {
 protected:
  void add_page() {
    site_.add(a_get(kPage, "text/html"));
    site_.add(a_get("https://b.test/1.js", "text/javascript", kPage));
    site_.add(a_get("https://b.test/2.js", "text/javascript", kPage));
    site_.add(a_get("http://c.test/3.js", "text/javascript", kPage));
  }
  Conditions make(const std::vector<std::string>& texts, bool has_think_times = true,
                  const SpokenProtocols& spoken = {}) {
    auto const interventions = interventions_of(texts);
    effects_.assign(interventions.size(), {});
    auto const requests = PageRequests::read(site_.reader(), 1, interventions);
    return conditions_of(requests, interventions, 1, effects_, has_think_times, spoken);
  }
  std::chrono::nanoseconds think(const Conditions& conditions, std::uint64_t sequence) {
    Exchange exchange;
    exchange.sequence = sequence;
    return conditions.think->of(exchange, 100ms).fixed;
  }
  std::string remark(std::size_t number) {
    auto const& remarks = effects_.at(number).remarks;
    return remarks.empty() ? "" : remarks.front().text();
  }
  RecordedSite site_;
  std::vector<Effect> effects_;
};

TEST_F(ConditionsTest, AreNoneWithoutAnyAction) {
  add_page();
  auto const made = make({"*: drop"});
  EXPECT_EQ(made.think, nullptr);
  EXPECT_THAT(made.further_away, IsEmpty());
  EXPECT_THAT(made.tls.alpn, IsEmpty());
  EXPECT_THAT(made.tls.coalesced, IsEmpty());
  EXPECT_EQ(effects_[0].selected, 0);
}

TEST_F(ConditionsTest, ThinkTimesChangeOneAfterAnother) {
  add_page();
  auto const made = make({"type=script: think=+50ms", "path=/1.js: think=x2"});
  EXPECT_EQ(think(made, 1), 100ms);
  EXPECT_EQ(think(made, 2), 300ms);
  EXPECT_EQ(think(made, 3), 150ms);
  EXPECT_EQ(effects_[0].changed, 3);
}

TEST_F(ConditionsTest, AThinkTimeThatIsNotThereIsNeitherMultipliedNorShortened) {
  add_page();
  auto const none = make({"*: think=x2", "*: think=-5ms", "*: think=0"}, false);
  EXPECT_EQ(none.think, nullptr);
  EXPECT_EQ(effects_[2].changed, 0);
  EXPECT_EQ(effects_[0].changed, 0);
  EXPECT_EQ(effects_[1].changed, 0);
  EXPECT_THAT(remark(0), testing::StartsWith("it has no think time (--think-time recorded"));
  make({"path=/1.js: think=+50ms", "type=script: think=x2"}, false);
  EXPECT_EQ(effects_[1].changed, 1);
}

TEST_F(ConditionsTest, TimesOfAHostAreAddedOnceHoweverManyRequestsAreSelected) {
  add_page();
  for (auto const& [action, times] :
       {std::pair{"rtt", &Conditions::further_away}, std::pair{"dns", &Conditions::slower_names}}) {
    auto const add = std::string(": ") + action + "=+";
    auto const made =
        make({"host=b.test" + add + "40ms", "path=/1.js" + add + "1ms", "host=c.test" + add + "2"});
    EXPECT_THAT(made.*times, ElementsAre(Pair("b.test", 41ms), Pair("c.test", 2ms)));
    EXPECT_EQ(effects_[0].selected, 2);
    EXPECT_EQ(effects_[0].changed, 1);
  }
}

TEST_F(ConditionsTest, ProtocolsAreOfHostsWithTls) {
  add_page();
  auto const made = make({"*: protocol=h1", "host=b.test: protocol=h2"});
  EXPECT_THAT(made.tls.alpn, ElementsAre(Pair("a.test", "http/1.1"), Pair("b.test", "h2")));
  EXPECT_EQ(remark(0), "it has no TLS: http://c.test/3.js");
}

TEST_F(ConditionsTest, Http3ComesOnTopOfWhatAHostSpeaksOverTcp) {
  add_page();
  auto const made = make({"*: protocol=h3", "host=b.test: protocol=h2"});
  EXPECT_THAT(made.tls.h3, ElementsAre("a.test"));
  EXPECT_THAT(made.tls.alpn, ElementsAre(Pair("b.test", "h2")));
}

TEST_F(ConditionsTest, OfTwoProtocolsOfAHostTheLaterWhatIfCounts) {
  add_page();
  // The later request of b.test is that of the earlier what-if.
  auto const made = make({"path=/2.js: protocol=h1", "path=/1.js: protocol=h2"});
  EXPECT_THAT(made.tls.alpn, ElementsAre(Pair("b.test", "h2")));
  EXPECT_EQ(effects_[0].changed, 0);
  EXPECT_EQ(remark(0), "a later what-if sets the same: b.test");
  EXPECT_EQ(effects_[1].changed, 1);
  EXPECT_EQ(remark(1), "");
}

TEST_F(ConditionsTest, AHostSpeaksHttp3BesideWhatAnEarlierWhatIfSets) {
  add_page();
  auto const both = make({"path=/2.js: protocol=h1", "path=/1.js: protocol=h3"});
  EXPECT_THAT(both.tls.h3, ElementsAre("b.test"));
  EXPECT_THAT(both.tls.alpn, ElementsAre(Pair("b.test", "http/1.1")));
  EXPECT_EQ(remark(0), "");
  auto const without = make({"path=/2.js: protocol=h3", "path=/1.js: protocol=h2"});
  EXPECT_THAT(without.tls.h3, IsEmpty());
  EXPECT_EQ(remark(0), "a later what-if sets the same: b.test");
}

TEST_F(ConditionsTest, AProtocolThatAHostSpeaksAlreadyIsNoChange) {
  add_page();
  SpokenProtocols const spoken{
      .values = 1,
      .with = {{"a.test", {{"http/1.1", {"recorded"}}}}, {"b.test", {{"h2", {"recorded"}}}}}};
  make({"*: protocol=h1"}, true, spoken);
  EXPECT_EQ(effects_[0].changed, 1) << "b.test";
  make({"host=a.test: protocol=h1", "host=b.test: protocol=h2"}, true, spoken);
  EXPECT_EQ(effects_[0].changed, 0);
  EXPECT_EQ(remark(0), "it is so already: a.test");
  EXPECT_EQ(remark(1), "it is so already: b.test");
  auto const made = make({"*: protocol=h2", "host=a.test: protocol=h1"}, true, spoken);
  EXPECT_EQ(made.tls.alpn.at("a.test"), "http/1.1") << "it overrules the earlier one";
  EXPECT_EQ(effects_[1].changed, 1) << "which would change it";
}

TEST_F(ConditionsTest, AProtocolIsAChangeIfOneValueOfTheOptionHasAnother) {
  add_page();
  SpokenProtocols const spoken{
      .values = 3,
      .with = {{"a.test", {{"http/1.1", {"h1"}}, {"h2", {"h2", "recorded"}}}},
               {"b.test", {{"http/1.1", {"h1"}}, {"h2", {"h2", "recorded"}}}}}};
  auto const made = make({"host=a.test or host=b.test: protocol=h2"}, true, spoken);
  EXPECT_EQ(effects_[0].changed, 2);
  EXPECT_EQ(made.tls.alpn.at("a.test"), "h2");
  EXPECT_EQ(remark(0), "it is so already with --protocol h2,recorded: a.test and 1 more");
}

TEST_F(ConditionsTest, Http3ThatAnotherProtocolWouldEndIsAChange) {
  add_page();
  SpokenProtocols const spoken{
      .values = 1, .with = {{"a.test", {{"h3", {"h3"}}}}, {"b.test", {{"h3", {"h3"}}}}}};
  make({"*: protocol=h3"}, true, spoken);
  EXPECT_EQ(effects_[0].changed, 0);
  make({"host=b.test: protocol=h1", "*: protocol=h3"}, true, spoken);
  EXPECT_EQ(effects_[0].changed, 1);
  EXPECT_EQ(effects_[1].changed, 1);
}

TEST_F(ConditionsTest, CoalescedHostsArePutWithThePage) {
  add_page();
  auto const made = make({"*: coalesce"});
  EXPECT_EQ(made.tls.page, "a.test");
  EXPECT_THAT(made.tls.coalesced, ElementsAre("b.test"));
  EXPECT_EQ(remark(0), "it is the page's own host: a.test");
}

TEST_F(ConditionsTest, NothingIsCoalescedWithoutAPageWithTls) {
  site_.add(a_get("http://a.test/", "text/html"));
  site_.add(a_get("https://b.test/1.js", "text/javascript"));
  auto const made = make({"host=b.test: coalesce"});
  EXPECT_THAT(made.tls.coalesced, IsEmpty());
  EXPECT_EQ(effects_[0].changed, 0);
  EXPECT_EQ(remark(0), "the recording has no page with TLS: b.test");
}

TEST_F(ConditionsTest, LeaveAloneWhatHasNoResponse) {
  add_page();
  auto failed = a_get("https://d.test/", "");
  failed.response = {};
  failed.outcome = Outcome::kOriginFailed;
  site_.add(failed);
  auto const made = make({"host=d.test: rtt=+1", "host=d.test: think=1"});
  EXPECT_THAT(made.further_away, IsEmpty());
  EXPECT_EQ(made.think, nullptr);
  EXPECT_EQ(remark(0), "it has no response: https://d.test/");
}

}  // namespace
}  // namespace reprise::whatif
