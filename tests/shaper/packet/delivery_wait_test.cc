#include "shaper/packet/network/delivery_wait.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

using namespace std::chrono_literals;

TEST(DeliveryWait, EndsOnceNothingIsLeft) {
  DeliveryWait wait;
  EXPECT_FALSE(wait.is_over(1, 100s));
  EXPECT_TRUE(wait.is_over(0, 100s));
}

TEST(DeliveryWait, EndsWhenThePeerHasReceivedNothingForTheWholePatience) {
  DeliveryWait wait;
  EXPECT_FALSE(wait.is_over(5, 100s));
  EXPECT_FALSE(wait.is_over(5, 100s + DeliveryWait::kPatience - 1ns));
  EXPECT_TRUE(wait.is_over(5, 100s + DeliveryWait::kPatience));
}

TEST(DeliveryWait, StartsAnewWheneverThePeerReceives) {
  DeliveryWait wait;
  EXPECT_FALSE(wait.is_over(5, 100s));
  EXPECT_FALSE(wait.is_over(4, 100s + DeliveryWait::kPatience));
  EXPECT_FALSE(wait.is_over(4, 101s + DeliveryWait::kPatience));
  EXPECT_TRUE(wait.is_over(4, 100s + 2 * DeliveryWait::kPatience));
}

}  // namespace
}  // namespace reprise
