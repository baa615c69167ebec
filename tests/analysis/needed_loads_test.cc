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

/// Among two loads a side that lose the same packets.
MetricSpread paired_spread(double deviation) {
  auto out = spread(deviation);
  out.loads_of_a_seed = 2;
  return out;
}

/// The share of `gates` whose verdict is different within `loads` a side, for a true shift. If
/// `paired`, losses cost each two of a side alike, and many times the rest.
double found_share(double shift, double deviation, std::size_t loads, const GateOptions& options,
                   int gates, bool paired = false) {
  std::mt19937_64 chance(5);
  int found = 0;
  for (int i = 0; i < gates; ++i) {
    Looks looks(options.look_every, options.most_runs);
    Samples samples{.least = minimum_effect(options.compare, metric("load"))};
    double usual = 1000;
    for (std::size_t look = 0; look < looks.at().size() && looks.at()[look] <= loads; ++look) {
      while (samples.a.size() < looks.at()[look]) {
        if (paired && samples.a.size() % 2 == 0) {
          usual = std::uniform_real_distribution(1000.0, 5000.0)(chance);
          samples.blocks.emplace_back();
        }
        samples.a.push_back(std::normal_distribution(usual, deviation)(chance));
        samples.b.push_back(std::normal_distribution(usual + shift, deviation)(chance));
        if (!paired) continue;
        samples.blocks.back().a.push_back(samples.a.back());
        samples.blocks.back().b.push_back(samples.b.back());
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

TEST(NeededLoads, AreMoreWhereFewMayBeCompared) {
  // Of six loads in three twos the least p is 2 / 6^3: above the level of the first look.
  EXPECT_EQ(needed_loads(paired_spread(0), 20, 1, {}), 10U);
  EXPECT_GT(needed_loads(paired_spread(15), 20, 1, {}), needed_loads(spread(15), 20, 1, {}));
}

TEST(NeededLoads, IsWhatFourOfFiveSimulatedGatesOverLossyLinksNeed) {
  GateOptions const options;
  for (double const deviation : {30.0, 60.0}) {
    auto const loads = needed_loads(paired_spread(deviation), 100, 1, options);
    ASSERT_TRUE(loads);
    auto const share = found_share(100, deviation, *loads, options, 100, true);
    EXPECT_GE(share, 0.7) << deviation << ", " << *loads;
  }
}

TEST(Spread, IsThatAmongLoadsThatLoseTheSamePackets) {
  std::vector<LoadRow> rows(6);
  LoadGroup group;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].metrics[metric("load")] = std::vector{1000, 1010, 5000, 5010, 2000, 2010}[i];
    rows[i].link_seed = static_cast<double>(i / 2);
    group.loads.push_back(&rows[i]);
  }
  auto spread = spreads_of(group, {}).at(0);
  EXPECT_EQ(spread.loads_of_a_seed, 2U);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(50));

  for (LoadRow& row : rows) row.link_seed = 7;
  spread = spreads_of(group, {}).at(0);
  EXPECT_EQ(spread.loads_of_a_seed, 0U) << "one seed tells nothing apart";
  EXPECT_GT(spread.deviation, 1000);

  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].link_seed = static_cast<double>(i);
  EXPECT_EQ(spreads_of(group, {}).at(0).loads_of_a_seed, 0U) << "each alone";
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
