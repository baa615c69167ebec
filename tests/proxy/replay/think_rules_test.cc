#include "proxy/replay/response/think_rules.h"

#include <gmock/gmock.h>

#include <set>

#include "proxy/replay/response/prepared_exchanges.h"
#include "proxy/replay/response/schedule.h"
#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

std::shared_ptr<const ThinkRule> change(std::string_view text) {
  return std::make_shared<ThinkRule>(ThinkRule{.change = ThinkTimeChange::parse(text).value()});
}
std::shared_ptr<const ThinkRule> draws(std::vector<nanoseconds> times) {
  return std::make_shared<ThinkRule>(ThinkRule{.draws = std::move(times)});
}

Exchange numbered(std::uint64_t sequence) {
  Exchange exchange;
  exchange.sequence = sequence;
  return exchange;
}

std::vector<nanoseconds> drawn(const ThinkRules& rules, std::uint64_t sequence, int count) {
  auto const changed = rules.of(numbered(sequence), 100ms);
  std::vector<nanoseconds> times;
  while (count-- > 0) times.push_back(changed.draws->next());
  return times;
}

std::vector<nanoseconds> many_times() {
  std::vector<nanoseconds> times;
  for (int i = 0; i < 1000; ++i) times.emplace_back(i);
  return times;
}

TEST(ThinkRules, ChangeOneAfterAnotherTheExchangeAlone) {
  ThinkRules rules(1);
  EXPECT_TRUE(rules.empty());
  rules.add(7, change("+50ms"));
  rules.add(7, change("x2"));
  rules.add(8, change("x2"));
  rules.add(8, change("+50ms"));
  EXPECT_FALSE(rules.empty());
  EXPECT_EQ(rules.of(numbered(7), 100ms).fixed, 300ms);
  EXPECT_EQ(rules.of(numbered(8), 100ms).fixed, 250ms);
  EXPECT_EQ(rules.of(numbered(9), 100ms).fixed, 100ms);
  EXPECT_EQ(rules.of(numbered(9), 100ms).draws, nullptr);
}

TEST(ThinkRules, AreNeverNegative) {
  ThinkRules rules(1);
  rules.add(1, change("-150ms"));
  rules.add(1, change("+10ms"));
  EXPECT_EQ(rules.of(numbered(1), 100ms).fixed, 10ms);
}

TEST(ThinkRules, DrawTheSameWithTheSameSeed) {
  ThinkRules one(5);
  ThinkRules same(5);
  ThinkRules other(6);
  for (auto* const rules : {&one, &same, &other}) {
    rules->add(1, draws(many_times()));
    rules->add(2, draws(many_times()));
  }
  auto const times = drawn(one, 1, 20);
  EXPECT_EQ(drawn(same, 1, 20), times);
  EXPECT_NE(drawn(other, 1, 20), times);
  EXPECT_NE(drawn(one, 2, 20), times);
}

TEST(ThinkRules, DrawEveryTime) {
  ThinkRules rules(1);
  rules.add(1, draws({1ms, 2ms, 3ms}));
  auto const times = drawn(rules, 1, 100);
  EXPECT_EQ(std::set(times.begin(), times.end()), (std::set<nanoseconds>{1ms, 2ms, 3ms}));
}

/// An exchange is prepared again, and its rules asked again, when the cache had no room for it.
TEST(ThinkRules, GoOnWithTheDrawsOfAnExchangeThatIsPreparedAgain) {
  ThinkRules rules(5);
  rules.add(1, draws(many_times()));
  rules.add(2, draws(many_times()));
  auto all = drawn(rules, 1, 10);
  drawn(rules, 2, 7);
  auto const later = drawn(rules, 1, 10);
  EXPECT_NE(later, all);
  all.insert(all.end(), later.begin(), later.end());
  ThinkRules same(5);
  same.add(1, draws(many_times()));
  EXPECT_EQ(drawn(same, 1, 20), all);
}

TEST(ThinkRules, DrawTheSameAfterARestart) {
  ThinkRules rules(5);
  rules.add(1, draws(many_times()));
  rules.add(2, change("x2"));
  auto const times = drawn(rules, 1, 10);
  rules.restart_draws();
  EXPECT_EQ(drawn(rules, 1, 10), times);
}

TEST(ThinkRules, RestartTheDrawsOfAKeptExchangeWithTheSession) {
  RecordedArchive archive;
  archive.add(RecordedArchive::exchange("GET", "/"));
  auto const rules = std::make_shared<ThinkRules>(5);
  rules->add(1, draws(many_times()));
  PreparedExchanges exchanges(archive.reader(), {.timing = {.rules = rules}}, {});
  auto const kept = exchanges.get(0);
  auto const ten = [&kept] {
    std::vector<nanoseconds> times;
    while (times.size() < 10) times.push_back(kept->schedule().draws->next());
    return times;
  };
  auto const times = ten();
  EXPECT_NE(ten(), times);
  exchanges.reset();
  EXPECT_EQ(ten(), times);
}

TEST(ThinkRules, ChangeWhatIsDrawnByLaterRulesAlone) {
  ThinkRules rules(1);
  rules.add(1, change("x100"));
  rules.add(1, draws({10ms}));
  rules.add(1, change("+5ms"));
  rules.add(1, change("x2"));
  EXPECT_EQ(drawn(rules, 1, 2), (std::vector<nanoseconds>{30ms, 30ms}));
}

TEST(ThinkRules, TakeTheLaterOfTwoDistributions) {
  ThinkRules rules(1);
  rules.add(1, draws({10ms}));
  rules.add(1, change("x2"));
  rules.add(1, draws({7ms}));
  EXPECT_EQ(drawn(rules, 1, 1).front(), 7ms);
}

TEST(ThinkRules, ShareADistributionAmongExchanges) {
  auto const times = draws(many_times());
  ThinkRules rules(1);
  for (std::uint64_t sequence = 1; sequence <= 100; ++sequence) rules.add(sequence, times);
  auto const held = times.use_count();
  auto const changed = rules.of(numbered(1), 0ms);
  EXPECT_NE(changed.draws, nullptr);
  EXPECT_EQ(times.use_count(), held);
}

class ScheduleWithRules : public testing::Test {
 protected:
  ScheduleWithRules() {
    exchange_.sequence = 3;
    exchange_.timings = {.queued = 1000ms, .request_sent = 1000ms, .first_byte = 1080ms};
    exchange_.timings.end = 1080ms;
    exchange_.interim = {{.status = 103, .time = 1060ms}};
    exchange_.response.status = 200;
  }
  Schedule of(std::string_view usual, std::shared_ptr<const ThinkRules> rules) const {
    return make_schedule(
        exchange_, 30ms,
        {.think = ThinkTime::parse(usual).value(), .pace = Pace::kNone, .rules = std::move(rules)});
  }
  static std::shared_ptr<const ThinkRules> rule(std::uint64_t sequence,
                                                std::shared_ptr<const ThinkRule> of) {
    auto rules = std::make_shared<ThinkRules>(1);
    rules->add(sequence, std::move(of));
    return rules;
  }
  Exchange exchange_;
};

TEST_F(ScheduleWithRules, ChangesWhatTheOptionSays) {
  EXPECT_EQ(of("none", rule(3, change("+20ms"))).head, 20ms);
  EXPECT_EQ(of("recorded", rule(3, change("+20ms"))).head, 70ms);
  EXPECT_EQ(of("x2", rule(3, change("+20ms"))).head, 120ms);
  EXPECT_EQ(of("7", rule(3, change("x2"))).head, 14ms);
  EXPECT_EQ(of("recorded", rule(3, change("0"))).head, 0ms);
}

TEST_F(ScheduleWithRules, HasInterimHeadsNoLaterThanTheFinalOne) {
  EXPECT_THAT(of("recorded", rule(3, change("-40ms"))).interim, testing::ElementsAre(10ms));
  EXPECT_THAT(of("recorded", rule(3, change("+40ms"))).interim, testing::ElementsAre(30ms));
}

TEST_F(ScheduleWithRules, OfOthersIsAsWithoutRules) {
  for (auto const* const usual : {"none", "recorded", "x2", "7"}) {
    auto const without = of(usual, nullptr);
    auto const with = of(usual, rule(4, draws({9ms})));
    EXPECT_EQ(with.head, without.head) << usual;
    EXPECT_EQ(with.interim, without.interim) << usual;
    EXPECT_EQ(with.is_at_once(), without.is_at_once()) << usual;
  }
  EXPECT_TRUE(of("none", nullptr).is_at_once());
}

TEST_F(ScheduleWithRules, IsNotAtOnceIfItDraws) {
  auto const schedule = of("none", rule(3, draws({9ms})));
  EXPECT_FALSE(schedule.is_at_once());
  EXPECT_EQ(schedule.draws->next(), 9ms);
}

}  // namespace
}  // namespace reprise
