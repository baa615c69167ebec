#include "analysis/noise_floor.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "tests/analysis/result_text.h"

using namespace reprise;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

namespace {

/// Of one side; the machine gets slower by `drift` ms a load.
Measurements same_loads(std::size_t count, double deviation, double drift) {
  Measurements all;
  std::mt19937_64 chance(11);
  for (std::size_t i = 0; i < count; ++i) {
    LoadRow row{.url = "https://a.test/", .loaded = true};
    row.metrics[metric("load")] =
        std::normal_distribution(1000.0, deviation)(chance) + drift * static_cast<double>(i);
    row.metrics[metric("requests")] = 12;
    all.loads.push_back(std::move(row));
  }
  return all;
}

}  // namespace

TEST(NoiseFloor, KeepsTheFalseAlarmRateOnLoadsThatDrift) {
  auto const floor = noise_floor(same_loads(60, 10, 1), {.gate = {.most_runs = 20}, .splits = 200});
  ASSERT_TRUE(floor) << floor.error();
  EXPECT_EQ(floor->different + floor->same + floor->undecided, 200U);
  EXPECT_LE(floor->different, 20U);
  EXPECT_LT(floor->rate_low, 0.05);
  EXPECT_GT(floor->rate_high, floor->rate_low);
  ASSERT_THAT(floor->metrics, SizeIs(2));
  EXPECT_EQ(floor->metrics[0].loads, 60U);
}

TEST(NoiseFloor, SaysWhatSoManyRunsCanSee) {
  CompareOptions fine;
  fine.least_of_times = MinimumEffect{};
  auto const floor = noise_floor(same_loads(60, 1, 0),
                                 {.gate = {.compare = fine, .most_runs = 30}, .splits = 100});
  ASSERT_TRUE(floor) << floor.error();
  auto const& visible = floor->metrics.front().visible;
  ASSERT_THAT(visible, SizeIs(6));
  // The smallest p of 5 against 5 is 0.79 %; one of two metrics needs 0.63 % at the first look.
  EXPECT_TRUE(std::isinf(visible[0].effect));
  EXPECT_EQ(visible.back().runs, 30U);
  EXPECT_LT(visible.back().effect, visible[1].effect);
  EXPECT_GT(visible.back().effect, 0);
}

TEST(NoiseFloor, ComparesLoadsThatLoseTheSamePackets) {
  CompareOptions fine;
  fine.least_of_times = MinimumEffect{};
  auto loads = same_loads(60, 10, 0);
  std::mt19937_64 chance(3);
  double lost_ms = 0;
  for (std::size_t i = 0; i < loads.loads.size(); ++i) {
    // As of a gate: A and B of two runs have one seed.
    if (i % 4 == 0) lost_ms = std::normal_distribution(20'000.0, 4000.0)(chance);
    loads.loads[i].link_seed = i / 4;
    *loads.loads[i].metrics[metric("load")] += lost_ms;
  }
  auto const floor =
      noise_floor(loads, {.gate = {.compare = fine, .most_runs = 30}, .splits = 100});
  ASSERT_TRUE(floor) << floor.error();
  EXPECT_GT(floor->metrics.front().visible.back().effect, 3);
  EXPECT_LT(floor->metrics.front().visible.back().effect, 30);
}

TEST(NoiseFloor, SplitsUpTheLoadsOfOneSeed) {
  // The first run of `load` warms up, and so the other one of its seed is alone.
  CompareOptions fine;
  fine.least_of_times = MinimumEffect{};
  auto loads = same_loads(61, 10, 0);
  for (std::size_t i = 0; i < loads.loads.size(); ++i) {
    loads.loads[i].link_seed = (i + 1) / 2;
    *loads.loads[i].metrics[metric("load")] += 4000.0 * static_cast<double>((i + 1) / 2 % 7);
  }
  auto const floor =
      noise_floor(loads, {.gate = {.compare = fine, .most_runs = 30}, .splits = 100});
  ASSERT_TRUE(floor) << floor.error();
  EXPECT_EQ(floor->runs, 30U);
  EXPECT_LT(floor->metrics.front().visible.back().effect, 100);
}

TEST(NoiseFloor, WantsEnoughLoads) {
  auto const floor = noise_floor(same_loads(7, 10, 0), {});
  ASSERT_FALSE(floor);
  EXPECT_THAT(floor.error(), HasSubstr("at least 8 are needed, and load event of https://a.test/"));
  EXPECT_THAT(floor.error(), EndsWith("has 7 loads"));
  EXPECT_TRUE(noise_floor(same_loads(8, 10, 0), {.splits = 10}));
}

TEST(NoiseFloor, NamesWhatDisturbedTheLoadsThatAreMissing) {
  constexpr auto kQuota = "a processor quota stopped the load for 812 ms";
  auto loads = same_loads(20, 10, 0);
  for (std::size_t i = 0; i < 13; ++i) loads.loads[i].skipped = kQuota;
  auto const few = noise_floor(loads, {});
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error(), HasSubstr("has 7 loads; 13 of 20 loads do not count: 13 were disturbed "
                                     "(the first one: a processor quota stopped"));
  for (LoadRow& load : loads.loads) load.skipped = kQuota;
  auto const none = noise_floor(loads, {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error(), HasSubstr("at least 8 are needed; https://a.test/ ("));
  EXPECT_THAT(none.error(), HasSubstr("20 were disturbed"));
  for (std::size_t i = 0; i < 18; ++i) loads.loads[i].skipped.clear();
  auto const floor = noise_floor(loads, {.splits = 10});
  ASSERT_TRUE(floor) << floor.error();
  ASSERT_THAT(floor->remarks, SizeIs(1));
  EXPECT_THAT(floor->remarks[0], HasSubstr("2 of 20 loads do not count: 2 were disturbed"));
}

TEST(NoiseFloor, SkipsAMetricThatFewLoadsHave) {
  auto loads = same_loads(60, 10, 0);
  for (std::size_t i = 0; i < 5; ++i) loads.loads[i].metrics[metric("cls")] = 0.1;
  auto const floor = noise_floor(loads, {.gate = {.most_runs = 20}, .splits = 10});
  ASSERT_TRUE(floor) << floor.error();
  EXPECT_EQ(floor->runs, 20U);
  ASSERT_THAT(floor->metrics, SizeIs(2));
  EXPECT_EQ(floor->metrics[0].visible.back().runs, 20U);
  ASSERT_THAT(floor->remarks, SizeIs(1));
  EXPECT_THAT(floor->remarks[0], StartsWith("skipped: "));
  EXPECT_THAT(floor->remarks[0], HasSubstr(std::string(kMetrics[metric("cls")].title)));
  EXPECT_THAT(floor->remarks[0], EndsWith("has 5 loads; at least 8 are needed"));
}

TEST(NoiseFloor, NamesTheMetricThatLimitsTheRuns) {
  auto loads = same_loads(60, 10, 0);
  for (std::size_t i = 0; i < 10; ++i) loads.loads[i].metrics[metric("cls")] = 0.1;
  auto const floor = noise_floor(loads, {.gate = {.most_runs = 20}, .splits = 10});
  ASSERT_TRUE(floor) << floor.error();
  EXPECT_EQ(floor->runs, 5U);
  ASSERT_THAT(floor->remarks, SizeIs(1));
  EXPECT_THAT(floor->remarks[0], StartsWith("splits have 5 runs per side, because "));
  EXPECT_THAT(floor->remarks[0], HasSubstr(std::string(kMetrics[metric("cls")].title)));
  EXPECT_TRUE(noise_floor(same_loads(30, 10, 0), {.gate = {.most_runs = 20}, .splits = 10})
                  ->remarks.empty());
}

TEST(ShareInterval, IsWilsons) {
  auto const [low, high] = share_interval(5, 100);
  EXPECT_NEAR(low, 0.0215, 1e-4);
  EXPECT_NEAR(high, 0.1118, 1e-4);
  EXPECT_EQ(share_interval(0, 10).first, 0);
}
