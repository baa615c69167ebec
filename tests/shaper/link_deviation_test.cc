#include "shaper/link_deviation.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

TEST(LinkDeviation, IsAShareOfTheSmaller) {
  EXPECT_DOUBLE_EQ(share_off(12.5, 10).value(), 0.25);
  EXPECT_DOUBLE_EQ(share_off(8, 10).value(), 0.25);
  EXPECT_EQ(share_off(10, 10), 0.0);
}

TEST(LinkDeviation, HasNoShareOfNothing) {
  EXPECT_EQ(share_off(1, 0), std::nullopt);
  EXPECT_EQ(share_off(0, 1), std::nullopt);
}

TEST(LinkDeviation, IsMeasuredWhereItHasAShare) {
  std::vector<LinkDeviation> const all{{.text = "slow", .share = 0.5},
                                       {.text = "lost", .share = std::nullopt}};
  EXPECT_THAT(texts_of(all), testing::ElementsAre("slow", "lost"));
  ASSERT_EQ(measured_deviations(all).size(), 1U);
  EXPECT_EQ(measured_deviations(all).at(0).at("text"), "slow");
}

}  // namespace
}  // namespace reprise
