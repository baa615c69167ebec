#include "shaper/loss.h"

#include <cmath>
#include <vector>

#include "tests/shaper/link_fixture.h"

namespace reprise {
namespace {

constexpr std::uint64_t kPackets = 100'000;

std::vector<std::uint64_t> lost_indices(const LossModel& model, std::uint64_t seed) {
  LossProcess loss(model, seed, 0);
  std::vector<std::uint64_t> lost;
  for (std::uint64_t i = 0; i < kPackets; ++i) {
    if (loss.loses(i)) lost.push_back(i);
  }
  return lost;
}

/// As a multiple of the binomial distribution's standard deviation.
double deviation(std::size_t lost, std::uint64_t packets, double p) {
  auto const n = static_cast<double>(packets);
  return (static_cast<double>(lost) - n * p) / std::sqrt(n * p * (1 - p));
}

class Bernoulli : public testing::TestWithParam<double> {};

TEST_P(Bernoulli, LosesItsShareWithinTheInterval) {
  constexpr double k99Percent = 2.576;
  double const p = GetParam();
  std::uint64_t lost_of_all = 0;
  int within = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto const lost = lost_indices({.in_good = p}, seed).size();
    lost_of_all += lost;
    within += std::abs(deviation(lost, kPackets, p)) <= k99Percent ? 1 : 0;
  }
  EXPECT_GE(within, 96);  // of 100 seeds, 99 are expected
  EXPECT_LT(std::abs(deviation(lost_of_all, 100 * kPackets, p)), k99Percent);
  EXPECT_LE(std::abs(deviation(lost_indices({.in_good = p}, kSeed).size(), kPackets, p)),
            k99Percent);
}

INSTANTIATE_TEST_SUITE_P(Shares, Bernoulli, testing::Values(0.001, 0.01, 0.05));

TEST(LossProcess, LosesAllOrNothingAtTheEnds) {
  EXPECT_TRUE(lost_indices({.in_good = 0}, kSeed).empty());
  EXPECT_EQ(lost_indices({.in_good = 1}, kSeed).size(), kPackets);
}

TEST(LossProcess, LosesTheSamePacketsWithTheSameSeedOnly) {
  LossModel const model{.in_good = 0.01};
  EXPECT_EQ(lost_indices(model, 7), lost_indices(model, 7));
  EXPECT_NE(lost_indices(model, 7), lost_indices(model, 8));
}

TEST(LossProcess, LosesOneAfterTheOtherIndependently) {
  auto const lost = lost_indices({.in_good = 0.05}, kSeed);
  std::size_t pairs = 0;
  for (std::size_t i = 1; i < lost.size(); ++i) pairs += lost[i] == lost[i - 1] + 1 ? 1 : 0;
  EXPECT_LT(std::abs(deviation(pairs, kPackets, 0.05 * 0.05)), 3);
}

TEST(LossProcess, GilbertElliottLosesInBurstsOfGeometricLength) {
  LossModel const model{.in_good = 0, .good_to_bad = 0.02, .bad_to_good = 0.25, .in_bad = 1};
  auto const lost = lost_indices(model, kSeed);
  // The share of time that is bad: p / (p + r).
  EXPECT_NEAR(static_cast<double>(lost.size()) / kPackets, 0.02 / 0.27, 0.005);
  std::vector<std::size_t> lengths(100, 0);
  std::size_t bursts = 0;
  std::size_t length = 1;
  for (std::size_t i = 1; i < lost.size(); ++i) {
    if (lost[i] == lost[i - 1] + 1) {
      ++length;
      continue;
    }
    ++lengths.at(length);
    ++bursts;
    length = 1;
  }
  for (std::size_t k = 1; k <= 8; ++k) {
    double const p = 0.25 * std::pow(0.75, k - 1);
    EXPECT_LT(std::abs(deviation(lengths[k], bursts, p)), 3) << "bursts of " << k;
  }
}

TEST(LossProcess, GilbertElliottLosesByTheStateItIsIn) {
  LossModel const model{.in_good = 0.01, .good_to_bad = 0.1, .bad_to_good = 0.1, .in_bad = 0.5};
  EXPECT_NEAR(static_cast<double>(lost_indices(model, kSeed).size()) / kPackets, 0.255, 0.01);
}

TEST(LossProcess, GoesByTheIndexWhateverTheTimesAndSizes) {
  LinkSettings const settings{.rate_bps = 1'000'000, .loss = {.in_good = 0.1}};
  LinkFixture slow(settings);
  LinkFixture fast(settings);
  std::vector<std::uint64_t> of_slow;
  std::vector<std::uint64_t> of_fast;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    if (slow.send(1500, i * 1s) == Admission::lost) of_slow.push_back(i);
    if (fast.send(40, i * 1us) == Admission::lost) of_fast.push_back(i);
  }
  EXPECT_GT(of_slow.size(), 50);
  EXPECT_EQ(of_slow, of_fast);
}

}  // namespace
}  // namespace reprise
