#include "shaper/packet/self_check.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

SelfCheck with_lateness(std::chrono::microseconds p50) {
  return {.lateness = {.packets = 16, .p50 = p50}};
}

TEST(SelfCheck, KeepsProcessorsAwakeWherePacketsAreThenAFifthLessLate) {
  using namespace std::chrono_literals;
  EXPECT_TRUE(should_keep_awake(with_lateness(100us), with_lateness(79us)));
  EXPECT_FALSE(should_keep_awake(with_lateness(100us), with_lateness(81us)));
  EXPECT_FALSE(should_keep_awake(with_lateness(5us), with_lateness(5us)));
}

TEST(SelfCheck, KeepsProcessorsAwakeWhereNothingWasMeasured) {
  SelfCheck const skipped{.skipped = "the link is too slow for a self-check"};
  EXPECT_TRUE(should_keep_awake(skipped, skipped));
}

}  // namespace
}  // namespace reprise
