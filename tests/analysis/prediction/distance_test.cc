#include "analysis/prediction/distribution_distance.h"

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "tests/test_seed.h"

namespace reprise {
namespace {

using Values = std::vector<double>;

TEST(DistributionDistance, IsThatOfTheStepsAtThePooledPoints) {
  // At 1, 2, 3, 4: 1/2, 1, 1/2, 0.
  auto const apart = distance_of(Values{1, 2}, Values{4, 3});
  EXPECT_DOUBLE_EQ(apart.largest, 1);
  EXPECT_DOUBLE_EQ(apart.median, .5);
  EXPECT_DOUBLE_EQ(apart.mean, .5);
  // At 1, 2, 2, 3, 5: 1/3, 1/6, 1/6, 1/2, 0; both have stepped at their common point.
  auto const mixed = distance_of(Values{1, 2, 3}, Values{2, 5});
  EXPECT_DOUBLE_EQ(mixed.largest, .5);
  EXPECT_NEAR(mixed.median, 1. / 6, 1e-12);
  EXPECT_NEAR(mixed.mean, (1. / 3 + 1. / 3 + .5) / 5, 1e-12);
}

TEST(DistributionDistance, IsZeroForTheSame) {
  auto const same = distance_of(Values{3, 1, 2, 2}, Values{2, 2, 1, 3});
  EXPECT_EQ(same.largest, 0);
  EXPECT_EQ(same.median, 0);
  EXPECT_EQ(same.mean, 0);
  EXPECT_EQ(distance_floor(Values{7, 7}, 5, 9, 10, 1).largest, 0);
}

TEST(DistributionDistance, HasAFloorThatFallsWithTheSamples) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  Values values(20'000);
  for (double& each : values) each = static_cast<double>(random() >> 11);
  // Of A against A: 8 % at 30 samples a side, 3.6 % at 100, 1.2 % at 1,000.
  EXPECT_NEAR(distance_floor(values, 30, 30, 300, seed.value()).median, .08, .02);
  EXPECT_NEAR(distance_floor(values, 100, 100, 300, seed.value()).median, .04, .01);
  EXPECT_NEAR(distance_floor(values, 1000, 1000, 100, seed.value()).median, .012, .005);
  auto const few = distance_floor(values, 30, 30, 300, seed.value());
  EXPECT_GT(few.largest, few.mean);
  EXPECT_EQ(distance_floor(values, 9, 7, 20, 5).mean, distance_floor(values, 9, 7, 20, 5).mean);
}

}  // namespace
}  // namespace reprise
