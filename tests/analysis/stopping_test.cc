#include "analysis/stopping.h"

#include <gmock/gmock.h>

#include "analysis/normal.h"

using namespace reprise;
using testing::DoubleNear;
using testing::ElementsAre;

TEST(LookLevels, OfASingleLookAreAlpha) {
  EXPECT_THAT(look_levels(std::vector{1.0}, 0.05), ElementsAre(DoubleNear(0.05, 1e-12)));
}

TEST(LookLevels, AreThoseOfTheTables) {
  // Five looks, spending as Pocock: the bounds that Lan and DeMets' program gives.
  auto const levels = look_levels(std::vector{0.2, 0.4, 0.6, 0.8, 1.0}, 0.05);
  std::vector<double> bounds;
  for (double const level : levels) bounds.push_back(normal_upper_quantile(level / 2));
  auto const near = [](double bound) { return DoubleNear(bound, 1e-3); };
  EXPECT_THAT(bounds,
              ElementsAre(near(2.438), near(2.4268), near(2.4101), near(2.3966), near(2.3859)));
}

TEST(LastLevel, IsThatOfTheTables) {
  // Pocock's constant for two looks with as many loads each is 2.178.
  auto const pocock = 2 * normal_upper(2.178);
  EXPECT_NEAR(last_level(pocock, 0.5, 0.05), pocock, 1e-4);
  auto const levels = look_levels(std::vector{0.4, 1.0}, 0.01);
  EXPECT_NEAR(last_level(levels[0], 0.4, 0.01), levels[1], 1e-9);
}

TEST(LastLevel, GrowsWithTheShareOfTheFirstLookToAlpha) {
  double before = 0.05 - 0.03;  // with nothing in common
  for (double const share : {0.1, 0.3, 0.6, 0.9, 0.99, 0.999}) {
    auto const level = last_level(0.03, share, 0.05);
    EXPECT_GE(level, before) << share;
    before = level;
  }
  EXPECT_LT(before, 0.05);
  EXPECT_EQ(last_level(0.03, 1, 0.05), 0.05);
}
