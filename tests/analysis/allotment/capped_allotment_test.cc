#include "analysis/allotment/capped_allotment.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CappedAllotment, IsThatWithoutALimitThatNoArmReaches) {
  std::vector<AllotmentArm> const arms = {{.deviation = 8}, {.deviation = 1}};
  EXPECT_THAT(*allot_capped(arms, 20, 1, 16), ElementsAre(16, 4));
}

TEST(CappedAllotment, GivesTheOthersWhatAnArmDoesNotTake) {
  std::vector<AllotmentArm> const arms = {{.deviation = 8}, {.deviation = 1}, {.deviation = .001}};
  EXPECT_THAT(*allot_capped(std::span(arms).first(2), 20, 1, 12), ElementsAre(12, 8));
  EXPECT_THAT(*allot_capped(arms, 24, 4, 9), ElementsAre(9, 9, 6)) << "one after the other";
  EXPECT_THAT(*allot_capped(arms, 100, 4, 9), ElementsAre(9, 9, 9)) << "the rest is not spent";
}

TEST(CappedAllotment, HasTheLeastWhateverTheLimit) {
  std::vector<AllotmentArm> const arms = {{.deviation = 8}, {.deviation = 1}};
  EXPECT_THAT(*allot_capped(arms, 20, 6, 2), ElementsAre(6, 6));
  EXPECT_THAT(allot_capped(arms, 11, 6, 9).error(), HasSubstr("at least 6 of each"));
  EXPECT_THAT(allot_capped({}, 11, 6, 9).error(), HasSubstr("nothing"));
}

}  // namespace
}  // namespace reprise
