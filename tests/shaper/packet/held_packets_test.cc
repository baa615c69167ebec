#include "shaper/packet/held_packets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace reprise {
namespace {

std::vector<std::byte> frame_of(std::size_t size, unsigned filling) {
  return std::vector<std::byte>(size, static_cast<std::byte>(filling));
}

TEST(HeldPackets, AFrameStaysUntilItsLastSegmentHasLeft) {
  HeldPackets held;
  auto const frame = frame_of(3000, 1);
  held.add({.left = 3}, frame);
  held.release(0, 2);
  ASSERT_EQ(held.packets(), 1U);
  EXPECT_TRUE(std::ranges::equal(held.at(0).frame(), frame));
  held.release(0, 1);
  EXPECT_EQ(held.packets(), 0U);
  EXPECT_EQ(held.bytes(), 0U);
}

TEST(HeldPackets, FramesMayLeaveOutOfOrder) {
  HeldPackets held;
  for (unsigned i = 0; i < 3; ++i) held.add({.left = 1}, frame_of(100 + i, i));
  held.release(1, 1);
  EXPECT_TRUE(std::ranges::equal(held.at(2).frame(), frame_of(102, 2)));
  held.release(0, 1);
  EXPECT_EQ(held.packets(), 1U);
  EXPECT_EQ(held.next_serial(), 3U);
  EXPECT_TRUE(std::ranges::equal(held.at(2).frame(), frame_of(102, 2)));
}

TEST(HeldPackets, BuffersAreReused) {
  HeldPackets held;
  held.add({.left = 1}, frame_of(60'000, 1));
  auto const* const before = held.at(0).buffer.get();
  held.release(0, 1);
  held.add({.left = 1}, frame_of(50'000, 2));
  EXPECT_EQ(held.at(1).buffer.get(), before);
}

TEST(HeldPackets, TheirMemoryIsCountedAndNotOnlyTheirBytes) {
  HeldPackets held;
  for (unsigned i = 0; i < 1000; ++i) held.add({.left = 1}, frame_of(58, i));
  EXPECT_GE(held.bytes(), 1000 * (sizeof(HeldPackets::Held) + 128));
  EXPECT_LT(held.bytes(), 1000U * 512);
}

TEST(HeldPackets, AHandleNamesFrameAndSegment) {
  auto const handle = HeldPackets::handle_of(123'456'789'012, 65'000);
  EXPECT_EQ(HeldPackets::serial_of(handle), 123'456'789'012U);
  EXPECT_EQ(HeldPackets::index_of(handle), 65'000U);
}

}  // namespace
}  // namespace reprise
