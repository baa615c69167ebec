#include "analysis/fisher_test.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

// Counted with whole numbers: sums of C(30, i) C(30, 25 - i) / C(60, 25) and so on.
TEST(FisherTest, IsTheSumOfWhatIsNoMoreProbable) {
  EXPECT_NEAR(fisher_p({1, 30}, {24, 30}), 6.917308877902e-10, 1e-18);
  EXPECT_NEAR(fisher_p({3, 10}, {1, 8}), 0.588235294117647, 1e-12);
  EXPECT_NEAR(fisher_p({2, 5}, {2, 5}), 1, 1e-12);
}

TEST(FisherTest, FindsNothingWhereNothingOrAllFailed) {
  EXPECT_EQ(fisher_p({0, 30}, {0, 30}), 1);
  EXPECT_EQ(fisher_p({30, 30}, {30, 30}), 1);
  EXPECT_EQ(fisher_p({3, 30}, {0, 0}), 1);
}

}  // namespace
}  // namespace reprise
