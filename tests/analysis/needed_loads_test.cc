#include "analysis/needed_loads.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "tests/analysis/result_text.h"

using namespace reprise;

namespace {

/// Of a page of one second.
MetricSpread spread(double deviation) {
  return {.metric = metric("load"), .loads = 10, .median = 1000, .deviation = deviation};
}

/// The share of `gates` whose verdict is different within `loads` a side, for a true shift.
double found_share(double shift, double deviation, std::size_t loads, const GateOptions& options,
                   int gates) {
  std::mt19937_64 chance(5);
  int found = 0;
  for (int i = 0; i < gates; ++i) {
    Looks looks(options.look_every, options.most_runs);
    Samples samples{.least = minimum_effect(options.compare, metric("load"))};
    for (std::size_t look = 0; look < looks.at().size() && looks.at()[look] <= loads; ++look) {
      while (samples.a.size() < looks.at()[look]) {
        samples.a.push_back(std::normal_distribution(1000.0, deviation)(chance));
        samples.b.push_back(std::normal_distribution(1000.0 + shift, deviation)(chance));
      }
      auto const level = [&](double alpha) { return looks.level(look, alpha); };
      if (judge({&samples, 1}, options.compare.alpha, level)[0].verdict != Verdict::kDifferent) {
        continue;
      }
      ++found;
      break;
    }
  }
  return static_cast<double>(found) / gates;
}

}  // namespace

TEST(NeededLoads, IsTheFirstLookThatCanDecideWhereThereIsNoNoise) {
  EXPECT_EQ(needed_loads(spread(0), 20, 1, {}), 5U);
  EXPECT_EQ(needed_loads(spread(0), 20, 5, {}), 10U);
  EXPECT_EQ(needed_loads(spread(0), 20, 1, {.look_every = 1}), 6U);
}

TEST(NeededLoads, GrowsWithTheNoiseUntilItIsTooMuch) {
  EXPECT_EQ(needed_loads(spread(5), 20, 1, {}), 5U);
  EXPECT_EQ(needed_loads(spread(15), 20, 1, {}), 15U);
  EXPECT_EQ(needed_loads(spread(60), 20, 1, {}), std::nullopt);
  EXPECT_NE(needed_loads(spread(60), 20, 1, {.most_runs = 500}), std::nullopt);
}

TEST(NeededLoads, IsNeverEnoughForTheLeastEffectItself) {
  EXPECT_EQ(needed_loads(spread(5), 10, 1, {}), std::nullopt);
  EXPECT_NE(needed_loads(spread(5), 12, 1, {}), std::nullopt);
}

TEST(NeededLoads, IsWhatFourOfFiveSimulatedGatesNeed) {
  GateOptions const options;
  for (double const deviation : {8.0, 20.0}) {
    auto const loads = needed_loads(spread(deviation), 30, 1, options);
    ASSERT_TRUE(loads);
    EXPECT_GE(found_share(30, deviation, *loads, options, 100), 0.7) << deviation;
  }
}

TEST(Spread, IsOfTheLoadsThatCount) {
  std::vector<LoadRow> rows(3);
  LoadGroup group;
  for (int i = 0; i < 3; ++i) {
    rows[static_cast<std::size_t>(i)].metrics[metric("load")] = 100 + 10 * i;
    group.loads.push_back(&rows[static_cast<std::size_t>(i)]);
  }
  auto const spreads = spreads_of(group, {});
  ASSERT_EQ(spreads.size(), 1U);  // the others were not told
  EXPECT_EQ(spreads[0].median, 110);
  EXPECT_DOUBLE_EQ(spreads[0].deviation, 10);
}
