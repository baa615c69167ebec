#include "analysis/allotment/allotment.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <random>

#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<AllotmentArm> arms_of(std::vector<double> deviations, std::vector<double> costs) {
  std::vector<AllotmentArm> arms;
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    arms.push_back({.deviation = deviations[i], .cost = costs[i]});
  }
  return arms;
}

/// Between a and b, on a grid, so that sums come out exactly on the budget now and then.
double between(std::mt19937_64& random, int a, int b) {
  return (a + static_cast<double>(random() % static_cast<unsigned>((b - a) * 8 + 1)) / 8);
}

std::vector<AllotmentArm> random_arms(std::mt19937_64& random, std::size_t most) {
  std::vector<AllotmentArm> arms(1 + random() % most);
  for (AllotmentArm& arm : arms) {
    arm.deviation = random() % 8 == 0 ? 0 : between(random, 1, 50) * (random() % 4 == 0 ? .01 : 1);
    arm.cost = between(random, 1, 8) * (random() % 4 == 0 ? .1 : 1);
    if (random() % 4 == 0) arm.weight = between(random, 1, 4);
  }
  return arms;
}

/// The allotment in real numbers (README.md), which whole ones come close to.
std::vector<double> optimal_allotment(std::span<const AllotmentArm> arms, double budget,
                                      std::size_t least) {
  auto const minimum = static_cast<double>(least);
  std::vector<double> shares;
  for (AllotmentArm const& arm : arms) {
    shares.push_back(arm.weight * std::pow(arm.deviation / (2 * arm.cost), 2.0 / 3));
  }
  // Each pass fixes arms at the minimum, which leaves less for the others, so none comes free.
  std::vector<bool> fixed(arms.size(), false);
  for (;;) {
    double left = budget;
    double asked = 0;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      if (fixed[i]) left -= minimum * arms[i].cost;
      if (!fixed[i]) asked += shares[i] * arms[i].cost;
    }
    bool changed = false;
    std::vector<double> measurements(arms.size(), minimum);
    for (std::size_t i = 0; i < arms.size(); ++i) {
      if (fixed[i]) continue;
      measurements[i] = asked > 0 ? left * shares[i] / asked : 0;
      if (measurements[i] >= minimum) continue;
      fixed[i] = changed = true;
    }
    if (!changed) return measurements;
  }
}

TEST(Allotment, GivesAnArmThatVariesMoreMore) {
  auto const arms = arms_of({8, 1}, {1, 1});
  EXPECT_THAT(optimal_allotment(arms, 20, 1),
              ElementsAre(DoubleNear(16, 1e-9), DoubleNear(4, 1e-9)));
  EXPECT_THAT(*allot(arms, 20, 1), ElementsAre(16, 4));
}

TEST(Allotment, GivesAnArmThatCostsMoreLess) {
  auto const arms = arms_of({1, 1}, {1, 8});
  EXPECT_THAT(optimal_allotment(arms, 90, 1),
              ElementsAre(DoubleNear(30, 1e-9), DoubleNear(7.5, 1e-9)));
  auto const whole = *allot(arms, 90, 1);
  EXPECT_LE(cost_of(arms, whole), 90);
}

TEST(Allotment, RoundsToWhatTheBudgetPaysFor) {
  auto const arms = arms_of({10, 40, 5}, {1, 4, 2});
  EXPECT_THAT(
      optimal_allotment(arms, 120, 8),
      ElementsAre(DoubleNear(20.71, .005), DoubleNear(20.71, .005), DoubleNear(8.22, .005)));
  EXPECT_THAT(*allot(arms, 120, 8), ElementsAre(20, 21, 8));
}

TEST(Allotment, FixesArmsAtTheMinimumAndSolvesTheRestAgain) {
  auto const arms = arms_of({8, 1, .001}, {1, 1, 1});
  EXPECT_THAT(optimal_allotment(arms, 25, 5),
              ElementsAre(DoubleNear(15, 1e-9), DoubleNear(5, 1e-9), DoubleNear(5, 1e-9)))
      << "the second falls below the minimum only after the third was fixed";
  EXPECT_THAT(*allot(arms, 25, 5), ElementsAre(15, 5, 5));
}

TEST(Allotment, SpendsOnlyTheMinimumIfNoArmVaries) {
  auto const arms = arms_of({0, 0}, {1, 2});
  EXPECT_THAT(optimal_allotment(arms, 90, 3), ElementsAre(3, 3));
  EXPECT_THAT(*allot(arms, 90, 3), ElementsAre(3, 3));
}

TEST(Allotment, SaysWhyItCannotAnswer) {
  auto const arms = arms_of({1, 1}, {1, 8});
  EXPECT_THAT(allot(arms, 71, 8).error(), HasSubstr("at least 8 of each"));
  EXPECT_THAT(*allot(arms, 72, 8), ElementsAre(8, 8));
  EXPECT_THAT(allot({}, 72, 8).error(), HasSubstr("nothing"));
  EXPECT_THAT(allot(arms, 72, 0).error(), HasSubstr("at least one"));
  EXPECT_THAT(allot(arms, 1e300, 600'000).error(), HasSubstr("a million"));
  EXPECT_THAT(allot(arms, NAN, 1).error(), HasSubstr("budget"));
  EXPECT_THAT(allot(arms_of({-1}, {1}), 9, 1).error(), HasSubstr("deviation of arm 1"));
  EXPECT_THAT(allot(arms_of({1, 1}, {1, 0}), 9, 1).error(), HasSubstr("cost of arm 2"));
  std::vector<AllotmentArm> const unweighted = {{.deviation = 1, .weight = 0}};
  EXPECT_THAT(allot(unweighted, 9, 1).error(), HasSubstr("weight of arm 1"));
}

TEST(Allotment, EndsAtAMillionMeasurements) {
  auto const arms = arms_of({1}, {1e-9});
  EXPECT_THAT(*allot(arms, 1e9, 1), ElementsAre(kAllottedMax));
}

TEST(Allotment, IsNeverOverBudgetAndSpendsWhatItCan) {
  for_seeds(rounds_of(10'000), [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto const arms = random_arms(random, 8);
    auto const least = 1 + random() % 8;
    auto const minimum = cost_of(arms, std::vector<std::size_t>(arms.size(), least));
    double const budget = minimum * between(random, 1, 9);
    auto const whole = *allot(arms, budget, least);
    ASSERT_LE(cost_of(arms, whole), budget);
    for (std::size_t i = 0; i < arms.size(); ++i) {
      ASSERT_GE(whole[i], least);
      auto more = whole;
      ++more[i];
      ASSERT_TRUE(arms[i].deviation == 0 || cost_of(arms, more) > budget);
    }
    auto const real = optimal_allotment(arms, budget, least);
    double spent = 0;
    double bound = 0;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      spent += real[i] * arms[i].cost;
      bound += std::pow(arms[i].weight, 1.5) * arms[i].deviation / std::sqrt(real[i]);
    }
    ASSERT_LE(spent, budget * (1 + 1e-12));
    ASSERT_LE(bound, sum_of_standard_errors(arms, whole) * (1 + 1e-12)) << "the real optimum";
    ASSERT_LE(bound, standard_errors_of_even_split(arms, budget) * (1 + 1e-12)) << "an even one";
  });
}

/// The least sum of standard errors of all allotments within the budget.
double exhaustive(const std::vector<AllotmentArm>& arms, double budget, std::size_t least) {
  double best = INFINITY;
  std::vector<std::size_t> measurements(arms.size(), least);
  std::function<void(std::size_t)> const visit = [&](std::size_t arm) {
    if (arm == arms.size()) {
      best = std::min(best, sum_of_standard_errors(arms, measurements));
      return;
    }
    for (measurements[arm] = least; cost_of(arms, measurements) <= budget; ++measurements[arm]) {
      visit(arm + 1);
    }
    measurements[arm] = least;
  };
  visit(0);
  return best;
}

TEST(Allotment, IsWithinFivePercentOfTheExhaustiveSearch) {
  for_seeds(2'000, [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto arms = random_arms(random, 3);
    for (AllotmentArm& arm : arms) arm.cost = std::max(arm.cost, .5);
    auto const least = 2 + random() % 4;
    double const minimum = cost_of(arms, std::vector<std::size_t>(arms.size(), least));
    double const budget = minimum + between(random, 0, 25);
    auto const found = sum_of_standard_errors(arms, *allot(arms, budget, least));
    ASSERT_LE(found, 1.05 * exhaustive(arms, budget, least) + 1e-12);
  });
}

TEST(Allotment, WeightsTheSharedBaselineForTheComparisons) {
  // With 9 candidates like it, the best is 3 times as often as each of them.
  std::size_t const candidates = 9;
  std::vector<AllotmentArm> arms(candidates + 1, {.deviation = 10});
  arms[0].weight = shared_baseline_weight(candidates);
  auto const whole = *allot(arms, 240, 2);
  EXPECT_EQ(whole[0], 60);
  for (std::size_t i = 1; i < arms.size(); ++i) EXPECT_EQ(whole[i], 20);

  auto const of_differences = [&](double baseline) {
    double const each = (240 - baseline) / static_cast<double>(candidates);
    return std::sqrt(100 / baseline + 100 / each);
  };
  for (double other = 10; other < 200; other += 1) {
    EXPECT_GE(of_differences(other), of_differences(60) - 1e-12) << other;
  }
  EXPECT_EQ(shared_baseline_weight(0), 1);
}

TEST(Allotment, GainsOverAnEvenSplit) {
  auto const arms = arms_of({8, 1}, {1, 1});
  EXPECT_NEAR(sum_of_standard_errors(arms, *allot(arms, 20, 1)), 8 / 4.0 + 1 / 2.0, 1e-12);
  EXPECT_NEAR(standard_errors_of_even_split(arms, 20), 9 / std::sqrt(10.0), 1e-12);
  EXPECT_NEAR(standard_errors_of_even_split(arms, 21), 9 / std::sqrt(10.5), 1e-12)
      << "the rest of a round is spent, too";
  EXPECT_TRUE(std::isinf(sum_of_standard_errors(arms, std::vector<std::size_t>{0, 4})));
}

}  // namespace
}  // namespace reprise
