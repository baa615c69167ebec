#include "analysis/dependency/steadiest.h"

#include <gmock/gmock.h>

#include <optional>
#include <vector>

namespace reprise {
namespace {

using Gaps = std::vector<double>;

TEST(Steadiest, HasNothingBeforeTheFirstOffer) {
  Steadiest<int> const steadiest;
  EXPECT_EQ(steadiest.best(), std::nullopt);
  EXPECT_EQ(steadiest.spread(), 0);
}

TEST(Steadiest, KeepsTheSmallestSpreadWhateverTheGapsAre) {
  Steadiest<int> steadiest;
  steadiest.offer(1, Gaps{1, 5});
  steadiest.offer(2, Gaps{900, 902});
  steadiest.offer(3, Gaps{0, 3});
  EXPECT_EQ(steadiest.best(), 2);
  EXPECT_DOUBLE_EQ(steadiest.spread(), standard_deviation(Gaps{900, 902}));
}

TEST(Steadiest, KeepsTheFirstOfEqualSpreads) {
  Steadiest<int> steadiest;
  steadiest.offer(1, Gaps{1, 3});
  steadiest.offer(2, Gaps{11, 13});
  EXPECT_EQ(steadiest.best(), 1);
}

}  // namespace
}  // namespace reprise
