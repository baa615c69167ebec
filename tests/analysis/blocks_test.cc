#include "analysis/blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "analysis/verdict.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

/// Machines of these speeds; B is `effect` larger than A on each.
std::vector<Block> machines(std::mt19937& random, const std::vector<double>& speeds,
                            std::size_t loads, double effect) {
  std::normal_distribution<double> noise(0, 10);
  std::vector<Block> out;
  for (double const speed : speeds) {
    Block block;
    for (std::size_t load = 0; load < loads; ++load) {
      block.a.push_back(speed + noise(random));
      block.b.push_back(speed + effect + noise(random));
    }
    out.push_back(std::move(block));
  }
  return out;
}

TEST(Blocks, OneIsTheTestWithoutBlocks) {
  std::vector<Block> const one{{.a = {1, 2, 3, 4, 5, 9}, .b = {4, 6, 7, 8, 8, 10}}};
  auto const plain = rank_test(one[0].a, one[0].b);
  EXPECT_EQ(blocked_rank_test(one).p, plain.p);
  EXPECT_EQ(blocked_rank_test(one).u, plain.u);
  auto const shift = shift_between(one[0].a, one[0].b, 0.05);
  EXPECT_EQ(blocked_shift(one, 0.05).estimate, shift.estimate);
  EXPECT_EQ(blocked_shift(one, 0.05).low, shift.low);
  EXPECT_EQ(blocked_shift(one, 0.05).high, shift.high);
}

TEST(Blocks, ExactProbabilityIsThatOfAllAssignments) {
  // Two machines with two values of each side: 6 x 6 assignments, and U = 8 in one of them.
  std::vector<Block> const two{{.a = {1, 2}, .b = {3, 4}}, {.a = {10, 20}, .b = {30, 40}}};
  auto const test = blocked_rank_test(two);
  EXPECT_TRUE(test.exact);
  EXPECT_EQ(test.u, 8);
  EXPECT_EQ(test.cliffs_delta, 1);
  EXPECT_NEAR(test.p, 2.0 / 36, 1e-12);
}

TEST(Blocks, ExactProbabilityIsThatOfAllAssignmentsWithTies) {
  // Each block's B has both larger values in one of 6 assignments.
  std::vector<Block> constants(3, {.a = {30, 30}, .b = {31, 31}});
  auto const three = blocked_rank_test(constants);
  EXPECT_TRUE(three.exact);
  EXPECT_EQ(three.u, 12);
  EXPECT_NEAR(three.p, 2.0 / 216, 1e-12);
  // One value: whatever is B's, U is 2.
  constants.push_back({.a = {7, 7}, .b = {7, 7}});
  EXPECT_EQ(blocked_rank_test(constants).u, 14);
  EXPECT_NEAR(blocked_rank_test(constants).p, 2.0 / 216, 1e-12);
  // U is 0.5, 2 or 3.5, each in 2 of 6 assignments; without ties it is 4 in one of 6.
  std::vector<Block> const mixed{{.a = {1, 2}, .b = {2, 3}}, {.a = {10, 20}, .b = {30, 40}}};
  EXPECT_EQ(blocked_rank_test(mixed).u, 7.5);
  EXPECT_NEAR(blocked_rank_test(mixed).p, 2.0 / 18, 1e-12);
  // Blocks of unequal sides: B's one value is the largest in one of 3 and of 4 assignments.
  std::vector<Block> const unequal{{.a = {1, 1}, .b = {2}}, {.a = {5, 5, 6}, .b = {7}}};
  EXPECT_NEAR(blocked_rank_test(unequal).p, 2.0 / 12, 1e-12);
}

TEST(Blocks, TooFewTiedValuesForTheLevelAreUndecided) {
  // The first of eight metrics has 0.05 / 8, and 2 / 216 is more.
  Samples const samples{.a = std::vector(6, 30.0),
                        .b = std::vector(6, 31.0),
                        .blocks = std::vector<Block>(3, {.a = {30, 30}, .b = {31, 31}})};
  auto const verdict_at = [&](double level) {
    return judge({&samples, 1}, level, [](double alpha) { return alpha; })[0].verdict;
  };
  EXPECT_EQ(verdict_at(0.05 / 8), Verdict::kUndecided);
  EXPECT_EQ(verdict_at(0.05 / 5), Verdict::kDifferent);
}

TEST(Blocks, ApproximatesLargeOnesWithTies) {
  std::vector<Block> const large(2, {.a = std::vector(26, 30.0), .b = std::vector(25, 31.0)});
  EXPECT_FALSE(blocked_rank_test(large).exact);
  EXPECT_LT(blocked_rank_test(large).p, 1e-12);
}

TEST(Blocks, ShiftIsThatOfAllDifferencesWithinThem) {
  TestSeed const seed;
  std::mt19937 random(static_cast<unsigned>(seed.value()));
  auto blocks = machines(random, {1000, 1600, 2500}, 6, 30);
  blocks[1].b.resize(4);
  blocks.push_back({.a = {7}, .b = {}});
  std::vector<double> differences;
  for (const Block& block : blocks) {
    for (double const a : block.a) {
      for (double const b : block.b) differences.push_back(b - a);
    }
  }
  std::ranges::sort(differences);
  auto const last = differences.size() - 1;
  auto const shift = blocked_shift(blocks, 0.05);
  EXPECT_EQ(shift.estimate, std::midpoint(differences[last / 2], differences[last - last / 2]));
  auto const low = std::ranges::find(differences, shift.low);
  ASSERT_TRUE(low != differences.end());
  auto const below = static_cast<std::size_t>(low - differences.begin());
  EXPECT_GT(below, 0U);
  EXPECT_LT(below, last / 2);
  EXPECT_EQ(shift.high, differences[last - below]);
}

TEST(Blocks, ShiftOfManyLoadsIsFoundWithoutMakingEveryDifference) {
  std::vector<Block> two(2);  // 5,000 million differences
  constexpr std::size_t kLoads = 50'000;
  for (std::size_t i = 0; i < kLoads; ++i) {
    auto const value = static_cast<double>(i * 7919 % kLoads);
    two[0].a.push_back(value);
    two[0].b.push_back(value + 250);
    two[1].a.push_back(value + 1e6);
    two[1].b.push_back(value + 1e6 + 250);
  }
  auto const shift = blocked_shift(two, 0.05);
  EXPECT_EQ(shift.estimate, 250);
  EXPECT_LT(shift.low, 250);
  EXPECT_GT(shift.low, 0);
  EXPECT_GT(shift.high, 250);
  EXPECT_LT(shift.high, 500);
}

TEST(Blocks, SmallestProbabilityIsThatOfSeparateSides) {
  for (std::size_t const block_loads : {0U, 1U, 2U, 3U, 5U}) {
    for (std::size_t loads = 1; loads <= 12; ++loads) {
      std::vector<Block> blocks;
      for (std::size_t i = 0; i < loads; ++i) {
        bool const is_first = block_loads == 0 ? i == 0 : i % block_loads == 0;
        if (is_first) blocks.emplace_back();
        blocks.back().a.push_back(static_cast<double>(i));
        blocks.back().b.push_back(static_cast<double>(100 + i));
      }
      EXPECT_NEAR(smallest_p(loads, block_loads), blocked_rank_test(blocks).p, 1e-12)
          << loads << " in blocks of " << block_loads;
    }
  }
  EXPECT_EQ(smallest_p(0), 1);
  EXPECT_EQ(smallest_p(100'000), 0);
}

TEST(Blocks, TheLargestIsThatOfBothSides) {
  std::vector<Block> const blocks{
      {.a = {1, 2, 3, 4}, .b = {}}, {.a = {1, 2}, .b = {3}}, {.a = {5}, .b = {6}}};
  EXPECT_EQ(loads_of_largest(blocks), 2U);
  EXPECT_EQ(loads_of_largest(std::span(blocks).first(1)), 0U);
}

TEST(Blocks, AMachineWithOneSideAloneSaysNothing) {
  std::vector<Block> const blocks{{.a = {1, 2, 3}, .b = {}}, {.a = {}, .b = {100}}};
  EXPECT_EQ(blocked_rank_test(blocks).p, 1);
  EXPECT_EQ(pairs_in(blocks), 0U);
  auto const findings = judge(std::vector<Samples>{{.a = {1, 2, 3}, .b = {100}, .blocks = blocks}},
                              0.05, [](double alpha) { return alpha; });
  EXPECT_EQ(findings[0].verdict, Verdict::kUndecided);
}

TEST(Blocks, SeeAnEffectThatMachinesHide) {
  TestSeed const seed;
  std::mt19937 random(static_cast<unsigned>(seed.value()));
  // Pairs of two machines say nothing, and are 7 of 8: they hide it from a test of all together.
  auto const blocks = machines(random, {1000, 1600, 2500, 3100, 4000, 4900, 5600, 6600}, 5, 30);
  EXPECT_LT(blocked_rank_test(blocks).p, 0.001);
  auto const shift = blocked_shift(blocks, 0.05);
  EXPECT_NEAR(shift.estimate, 30, 15);
  EXPECT_LT(shift.low, 30 + 5);
  std::vector<double> a, b;
  for (const Block& block : blocks) {
    a.insert(a.end(), block.a.begin(), block.a.end());
    b.insert(b.end(), block.b.begin(), block.b.end());
  }
  EXPECT_GT(rank_test(a, b).p, 0.05);
}

TEST(Blocks, CallEqualSidesDifferentNoMoreOftenThanTheyMay) {
  TestSeed const seed;
  std::mt19937 random(static_cast<unsigned>(seed.value()));
  constexpr int kTimes = 2000;
  int different = 0, outside = 0;
  for (int time = 0; time < kTimes; ++time) {
    // The unequal machine has unequal numbers of loads: 8 A and 4 B.
    auto blocks = machines(random, {1000, 1600, 2500}, 8, 0);
    blocks[1].b.resize(4);
    if (blocked_rank_test(blocks).p <= 0.05) ++different;
    auto const shift = blocked_shift(blocks, 0.05);
    if (shift.low > 0 || shift.high < 0) ++outside;
  }
  // Five standard deviations of 2,000 draws at 5 %.
  double const most = kTimes * 0.05 + 5 * std::sqrt(kTimes * 0.05 * 0.95);
  EXPECT_LT(different, most);
  EXPECT_LT(outside, most);
  EXPECT_GT(different, 0);
}

}  // namespace
}  // namespace reprise
