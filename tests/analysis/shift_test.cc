#include "analysis/shift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace reprise;
using Values = std::vector<double>;

TEST(Shift, IsTheMedianOfAllDifferences) {
  // Differences: -1 0 1 2 4 5 6 7.
  auto const shift = shift_between(Values{1, 2, 3, 4}, Values{3, 8}, 0.2);
  EXPECT_EQ(shift.estimate, 3);
  EXPECT_EQ(shift.low, -1);
  EXPECT_EQ(shift.high, 7);
}

TEST(Shift, MovesWithB) {
  Values const a{5, 3, 8, 9, 12, 4};
  Values b{6, 2, 9, 9, 14, 3};
  auto const before = shift_between(a, b, 0.05);
  for (double& value : b) value += 1024;
  auto const after = shift_between(a, b, 0.05);
  EXPECT_EQ(after.estimate, before.estimate + 1024);
  EXPECT_EQ(after.low, before.low + 1024);
  EXPECT_EQ(after.high, before.high + 1024);
}

TEST(Shift, HasNoIntervalWithTooFewValues) {
  auto const shift = shift_between(Values{1, 2, 3}, Values{1, 2, 3}, 0.05);
  EXPECT_EQ(shift.estimate, 0);
  EXPECT_TRUE(std::isinf(shift.low) && shift.low < 0);
  EXPECT_TRUE(std::isinf(shift.high) && shift.high > 0);
}

TEST(Shift, OfConstantsIsExact) {
  auto const shift = shift_between(Values(6, 30.0), Values(6, 31.0), 0.05);
  EXPECT_EQ(shift.estimate, 1);
  EXPECT_EQ(shift.low, 1);
  EXPECT_EQ(shift.high, 1);
}

TEST(Shift, OfManyLoadsIsFoundWithoutMakingEveryDifference) {
  Values a(100'000), b(100'000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<double>(i * 7919 % a.size());
    b[i] = a[i] + 250;
  }
  auto const shift = shift_between(a, b, 0.05);
  EXPECT_EQ(shift.estimate, 250);
  EXPECT_LT(shift.low, 250);
  EXPECT_GT(shift.high, 250);
  EXPECT_GT(shift.low, -250);
}
