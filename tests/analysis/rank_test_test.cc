#include "analysis/rank_test.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace reprise;
using Values = std::vector<double>;

TEST(RankTest, IsExactForSmallSamples) {
  auto const test = rank_test(Values{1, 2, 3}, Values{4, 5, 6});
  EXPECT_EQ(test.u, 9);
  EXPECT_EQ(test.cliffs_delta, 1);
  EXPECT_DOUBLE_EQ(test.p, 2.0 / 20);
  EXPECT_TRUE(test.exact);
}

TEST(RankTest, FindsTwoConstantsThatDiffer) {
  auto const test = rank_test(Values(5, 30.0), Values(5, 31.0));
  EXPECT_EQ(test.cliffs_delta, 1);
  EXPECT_DOUBLE_EQ(test.p, 2.0 / 252);
}

TEST(RankTest, FindsNothingInOneValueOrNone) {
  EXPECT_EQ(rank_test(Values(5, 30.0), Values(7, 30.0)).p, 1);
  EXPECT_EQ(rank_test(Values(5, 30.0), Values(7, 30.0)).cliffs_delta, 0);
  EXPECT_EQ(rank_test(Values{}, Values{1}).p, 1);
}

TEST(RankTest, OneOutlierCountsAsOneLoad) {
  Values const a{10, 11, 12, 13, 14};
  EXPECT_EQ(rank_test(a, Values{9, 11.5, 12.5, 10.5, 15}).p,
            rank_test(a, Values{9, 11.5, 12.5, 10.5, 1e9}).p);
}

TEST(RankTest, ApproximatesLargeSamples) {
  Values a(40), b(40);
  std::iota(a.begin(), a.end(), 0.0);
  std::iota(b.begin(), b.end(), 100.0);
  auto const test = rank_test(a, b);
  EXPECT_FALSE(test.exact);
  EXPECT_LT(test.p, 1e-12);
}

TEST(UDistribution, IsThatOfTheTextbook) {
  // Of 3 and 2 values: 10 orders.
  Values const expected{0.1, 0.1, 0.2, 0.2, 0.2, 0.1, 0.1};
  auto const got = u_distribution(3, 2);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t u = 0; u < got.size(); ++u) EXPECT_DOUBLE_EQ(got[u], expected[u]);
}

TEST(UDistribution, HasHalvesWithTies) {
  // Of the ranks 1, 2.5, 2.5 and 4, B has two.
  auto const got = doubled_u_distribution(Values{1, 2}, Values{2, 3});
  Values const expected{0, 2, 0, 0, 2, 0, 0, 2, 0};
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t u = 0; u < got.size(); ++u) EXPECT_DOUBLE_EQ(got[u], expected[u] / 6) << u;
}
