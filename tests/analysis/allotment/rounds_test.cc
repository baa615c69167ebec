#include "analysis/allotment/rounds.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/test_seed.h"

namespace reprise {
namespace {

TEST(Rounds, ContainEachArmInProportion) {
  std::vector<std::size_t> const measurements = {20, 21, 8};
  auto const rounds = rounds_of(measurements, 1);
  ASSERT_EQ(rounds.size(), 8);
  std::vector<std::size_t> sums(3);
  for (MeasuringRound const& round : rounds) {
    for (std::size_t arm = 0; arm < 3; ++arm) {
      auto const count = static_cast<std::size_t>(std::ranges::count(round, arm));
      auto const whole = measurements[arm] / 8;
      EXPECT_GE(count, whole);
      EXPECT_LE(count, whole + (measurements[arm] % 8 > 0 ? 1 : 0));
      sums[arm] += count;
    }
  }
  EXPECT_EQ(sums, measurements);
}

TEST(Rounds, AreTheSameWithTheSameSeedAndInAnotherOrderWithAnother) {
  std::vector<std::size_t> const measurements = {9, 9, 9};
  EXPECT_EQ(rounds_of(measurements, 3), rounds_of(measurements, 3));
  EXPECT_NE(rounds_of(measurements, 3), rounds_of(measurements, 4));
}

TEST(Rounds, LeaveOutAnArmWithoutMeasurements) {
  auto const rounds = rounds_of(std::vector<std::size_t>{2, 0}, 1);
  EXPECT_THAT(rounds, testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(0)));
  EXPECT_TRUE(rounds_of({}, 1).empty());
  EXPECT_TRUE(rounds_of(std::vector<std::size_t>{0}, 1).empty());
}

TEST(Rounds, ContainAllMeasurementsOfRandomCases) {
  for_seeds(1000, [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::size_t> measurements(1 + random() % 6);
    for (auto& count : measurements) count = 1 + random() % 40;
    std::vector<std::size_t> sums(measurements.size());
    for (MeasuringRound const& round : rounds_of(measurements, seed)) {
      for (auto const arm : round) ++sums[arm];
      for (std::size_t arm = 0; arm < sums.size(); ++arm) {
        ASSERT_NE(std::ranges::find(round, arm), round.end());
      }
    }
    ASSERT_EQ(sums, measurements);
  });
}

TEST(RoundSteps, BeginWithTheFirstRunOfEachArm) {
  MeasuringRound const round = {1, 0, 1, 1, 0};
  EXPECT_THAT(steps_of(round, 5),
              testing::ElementsAre(MeasuringStep{1, 5}, MeasuringStep{0, 5}, MeasuringStep{1, 6},
                                   MeasuringStep{1, 7}, MeasuringStep{0, 6}));
  EXPECT_THAT(steps_of({}, 5), testing::IsEmpty());
}

TEST(RoundSteps, MeasureNoArmTwiceInARun) {
  std::vector<std::size_t> const measurements = {20, 21, 2};
  std::set<std::pair<std::size_t, std::size_t>> seen;
  std::size_t next_run = 1;
  for (MeasuringRound const& round : rounds_of(measurements, 1)) {
    for (auto const& [arm, run] : steps_of(round, next_run)) {
      EXPECT_TRUE(seen.emplace(arm, run).second) << arm << " in run " << run;
      next_run = std::max(next_run, run + 1);
    }
  }
  EXPECT_EQ(seen.size(), 43);
  EXPECT_EQ(next_run, 22);
}

}  // namespace
}  // namespace reprise
