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
