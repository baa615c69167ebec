#include "analysis/repeats.h"

#include <gtest/gtest.h>

using namespace reprise;

TEST(DisturbedRepeats, AreUsedUpAfterSix) {
  DisturbedRepeats repeats;
  for (std::size_t i = 1; i < kDisturbedRunsMax; ++i) repeats.add();
  EXPECT_FALSE(repeats.is_used_up());
  EXPECT_FALSE(repeats.too_many(0));
  repeats.add();
  EXPECT_TRUE(repeats.is_used_up());
  EXPECT_TRUE(repeats.too_many(0));
}

TEST(DisturbedRepeats, AreTooManyIfTheyAreMoreThanTwiceAsManyAsTheRunsThatCount) {
  DisturbedRepeats repeats;
  for (std::size_t i = 0; i < 20; ++i) repeats.add();
  EXPECT_TRUE(repeats.too_many(9));
  EXPECT_FALSE(repeats.too_many(10));
}
