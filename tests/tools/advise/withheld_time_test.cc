#include "tools/advise/withheld_time.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(WithheldTime, IsForOneStepLessThanThereAreChanges) {
  EXPECT_EQ(seconds_withheld(2, 60, 600), 60);
  EXPECT_EQ(seconds_withheld(4, 60, 600), 180);
}

TEST(WithheldTime, IsNeededForThoseThatHelpAlone) {
  EXPECT_EQ(seconds_of_steps(0, 60), 0);
  EXPECT_EQ(seconds_of_steps(1, 60), 0);
  EXPECT_EQ(seconds_of_steps(4, 60), 180);
}

TEST(WithheldTime, IsNothingWithoutTwoChanges) {
  EXPECT_EQ(seconds_withheld(0, 60, 600), 0);
  EXPECT_EQ(seconds_withheld(1, 60, 600), 0);
}

TEST(WithheldTime, IsAtMostHalfAndAtLeastAStep) {
  EXPECT_EQ(seconds_withheld(9, 60, 600), 300);
  EXPECT_EQ(seconds_withheld(2, 60, 120), 60);
  EXPECT_EQ(seconds_withheld(2, 60, 119), 0);
  EXPECT_EQ(seconds_withheld(9, 60, 119), 0);
  EXPECT_EQ(seconds_withheld(2, 60, -5), 0);
}

}  // namespace
}  // namespace reprise
