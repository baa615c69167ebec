#include "tools/advise/two_looks.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "analysis/normal.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;

TEST(TwoLooks, AreOneIfNothingIsWithheld) {
  EXPECT_EQ(first_look_level(.01, 1), .01);
  EXPECT_LT(first_look_level(.01, .5), .01);
  EXPECT_GT(first_look_level(.01, .5), .005);
}

TEST(TwoLooks, HaveAllOfAlphaAtTheSecondWithoutMoreLoads) {
  EXPECT_EQ(last_look_level(.01, .5, {12, 8}, {12, 8}), .01);
  EXPECT_EQ(last_look_level(.01, .5, {12, 0}, {20, 8}), .01) << "nothing was looked at before";
  auto const level = last_look_level(.01, .5, {12, 8}, {24, 16});
  EXPECT_LT(level, .01);
  EXPECT_LT(last_look_level(.01, .5, {12, 8}, {48, 32}), level);
}

/// A sample of loads that do not differ, by the mean.
class Sums {
 public:
  explicit Sums(std::uint64_t seed) : random_(seed) {}

  void add(LoadsBeside loads) {
    for (; loads_.recorded < loads.recorded; ++loads_.recorded) recorded_ += normal_(random_);
    for (; loads_.changed < loads.changed; ++loads_.changed) changed_ += normal_(random_);
  }
  double p() const {
    auto const a = static_cast<double>(loads_.recorded), b = static_cast<double>(loads_.changed);
    return 2 * normal_upper(std::abs(recorded_ / a - changed_ / b) / std::sqrt(1 / a + 1 / b));
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  LoadsBeside loads_;
  double recorded_ = 0;
  double changed_ = 0;
};

TEST(TwoLooks, RaiseTheFalseAlarmTogetherAsOftenAsOne) {
  constexpr double kAlpha = .05;
  constexpr int kCases = 20'000;
  LoadsBeside const first{17, 7};
  // Half as many more, and three times as many more: however much of the time is not needed.
  for (LoadsBeside const last : {LoadsBeside{25, 10}, LoadsBeside{68, 28}}) {
    auto const first_level = first_look_level(kAlpha, .6);
    auto const last_level = last_look_level(kAlpha, .6, first, last);
    int alarms = 0;
    int naive = 0;
    for (int i = 0; i < kCases; ++i) {
      Sums sums(static_cast<std::uint64_t>(i));
      sums.add(first);
      auto const before = sums.p();
      sums.add(last);
      auto const after = sums.p();
      if (before <= first_level || after <= last_level) ++alarms;
      if (before <= kAlpha || after <= kAlpha) ++naive;
    }
    EXPECT_NEAR(static_cast<double>(alarms) / kCases, kAlpha, .006);
    EXPECT_GT(static_cast<double>(naive) / kCases, kAlpha + .01);
  }
}

TEST(FurtherLoads, AreTheSameMultipleOfThoseMade) {
  EXPECT_THAT(further_loads(std::vector<std::size_t>{20, 0, 8, 10}, 57.5, 1000),
              ElementsAre(30, 0, 12, 15));
  EXPECT_THAT(further_loads(std::vector<std::size_t>{20, 0, 8, 10}, 20, 1000),
              ElementsAre(10, 0, 4, 5));
}

TEST(FurtherLoads, AreNoMoreThanAllowedInAll) {
  EXPECT_THAT(further_loads(std::vector<std::size_t>{20, 8}, 1e6, 30), ElementsAre(10, 4));
  EXPECT_THAT(further_loads(std::vector<std::size_t>{20, 8}, 1e6, 20), ElementsAre(0, 0));
}

TEST(FurtherLoads, AreNoneWhereASideWouldNotBeInTurnWithTheOthers) {
  EXPECT_THAT(further_loads(std::vector<std::size_t>{20, 8}, 3, 100), ElementsAre(0, 0));
  EXPECT_THAT(further_loads(std::vector<std::size_t>{20, 8}, 4, 100), ElementsAre(2, 1));
  EXPECT_THAT(further_loads(std::vector<std::size_t>{20, 8}, -4, 100), ElementsAre(0, 0));
  auto const unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(further_loads(std::vector<std::size_t>{20, 8}, unknown, 20), ElementsAre(0, 0));
  EXPECT_THAT(further_loads(std::vector<std::size_t>{0, 0}, 60, 100), ElementsAre(0, 0));
}

}  // namespace
}  // namespace reprise
