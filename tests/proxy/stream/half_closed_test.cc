#include "proxy/stream/half_closed.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

using namespace std::chrono_literals;

constexpr HalfClosed::Time kStart{};
constexpr HalfClosed::Time kGraceOver = kStart + HalfClosed::kGrace + 1ms;

TEST(HalfClosed, IsGoneIfNothingWasSentInItsGrace) {
  HalfClosed peer;
  EXPECT_FALSE(peer.is_gone(kStart, 100));
  EXPECT_FALSE(peer.is_gone(kStart + HalfClosed::kGrace, 100));
  EXPECT_TRUE(peer.is_gone(kGraceOver, 100));
}

TEST(HalfClosed, IsThereOnceItWasSentSomething) {
  HalfClosed peer;
  EXPECT_FALSE(peer.is_gone(kStart, 100));
  EXPECT_FALSE(peer.is_gone(kGraceOver, 101));
  peer.begin_wait();
  EXPECT_FALSE(peer.is_gone(kGraceOver, 101));
  EXPECT_FALSE(peer.is_gone(kGraceOver + 1h, 101));
}

TEST(HalfClosed, HasAGraceInEachWait) {
  HalfClosed peer;
  EXPECT_FALSE(peer.is_gone(kStart, 100));
  EXPECT_TRUE(peer.is_gone(kGraceOver, 100));
  peer.begin_wait();
  EXPECT_FALSE(peer.is_gone(kGraceOver, 100));
  EXPECT_TRUE(peer.is_gone(kGraceOver + HalfClosed::kGrace + 1ms, 100));
}

}  // namespace
}  // namespace reprise
