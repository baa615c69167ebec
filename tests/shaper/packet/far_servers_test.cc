#include "shaper/packet/far_servers.h"

#include <gtest/gtest.h>

#include <array>

namespace reprise {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint32_t kNear = 0xC6120001;  // 198.18.0.1
constexpr std::uint32_t kFar = 0xC6120002;
constexpr std::uint32_t kFarther = 0xC6120003;

/// An Ethernet frame with an IPv4 header from `source`, and `mark` behind it.
std::vector<std::byte> frame_from(std::uint32_t source, std::uint8_t mark = 0) {
  std::vector<std::byte> frame(kEthernetBytes + 20 + 1);
  frame[12] = std::byte{0x08};
  for (int i = 0; i < 4; ++i) {
    frame[kEthernetBytes + 12 + i] = static_cast<std::byte>(source >> (24 - 8 * i));
  }
  frame.back() = std::byte{mark};
  return frame;
}

class FarServersTest : public testing::Test {
 protected:
  void hold(std::uint32_t source, nanoseconds arrived, std::uint8_t mark) {
    auto const frame = frame_from(source, mark);
    ASSERT_TRUE(servers.hold(frame, {}, arrived + servers.delay_of(frame)));
  }

  FarServers servers{{{kFar, milliseconds(10)}, {kFarther, milliseconds(30)}}};
};

TEST_F(FarServersTest, KnowsThemByTheirIpv4Address) {
  EXPECT_EQ(servers.delay_of(frame_from(kFar)), milliseconds(10));
  EXPECT_EQ(servers.delay_of(frame_from(kNear)), nanoseconds(0));
  auto arp = frame_from(kFar);
  arp[13] = std::byte{0x06};
  EXPECT_EQ(servers.delay_of(arp), nanoseconds(0));
  auto const whole = frame_from(kFar);
  for (std::size_t size = 0; size < kEthernetBytes + 16; ++size) {
    EXPECT_EQ(servers.delay_of(std::span(whole).first(size)), nanoseconds(0)) << size;
  }
}

TEST_F(FarServersTest, GivesEachFrameWhenItsDistanceHasPassedAndNotBefore) {
  EXPECT_FALSE(servers.next_due());
  hold(kFarther, milliseconds(0), 1);
  hold(kFar, milliseconds(5), 2);
  hold(kFar, milliseconds(5), 3);
  hold(kFar, milliseconds(20), 4);
  EXPECT_FALSE(servers.take(milliseconds(15) - nanoseconds(1)));
  std::vector<std::pair<nanoseconds, int>> given;
  while (auto const due = servers.next_due()) {
    auto const frame = servers.take(*due);
    ASSERT_TRUE(frame);
    given.emplace_back(frame->due, std::to_integer<int>(frame->bytes.back()));
  }
  EXPECT_EQ(given, (std::vector<std::pair<nanoseconds, int>>{{milliseconds(15), 2},
                                                             {milliseconds(15), 3},
                                                             {milliseconds(30), 1},
                                                             {milliseconds(30), 4}}));
}

TEST_F(FarServersTest, HoldsSoMuchAndNoMore) {
  std::vector<std::byte> const large(kFrameBytesMax);
  std::uint64_t held = 0;
  while (servers.hold(large, {}, milliseconds(1))) held += large.size();
  EXPECT_LE(held, FarServers::kHeldBytesMax);
  EXPECT_GT(held + large.size(), FarServers::kHeldBytesMax);
  ASSERT_TRUE(servers.take(milliseconds(1)));
  EXPECT_TRUE(servers.hold(large, {}, milliseconds(1)));
}

}  // namespace
}  // namespace reprise
