#include "proxy/quic/recycled_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <thread>
#include <vector>

namespace reprise {
namespace {

std::span<unsigned char> bytes_at(void* object, std::size_t size) {
  return {static_cast<unsigned char*>(object), size};
}

TEST(RecycledMemoryTest, ObjectsOfAllSizesAreApart) {
  std::vector<std::span<unsigned char>> objects;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t size = 0; size < 2 * RecycledMemory::kObjectBytesMax; size += 7) {
      auto* const object = RecycledMemory::take(size);
      ASSERT_NE(object, nullptr);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(object) % alignof(std::max_align_t), 0U);
      objects.push_back(bytes_at(object, size));
      std::ranges::fill(objects.back(), static_cast<unsigned char>(objects.size()));
    }
    for (std::size_t i = 0; i < objects.size(); ++i) {
      ASSERT_TRUE(std::ranges::all_of(
          objects[i], [&](unsigned char c) { return c == static_cast<unsigned char>(i + 1); }));
    }
    for (auto const object : objects) RecycledMemory::give(object.data());
    objects.clear();
  }
}

TEST(RecycledMemoryTest, ClearedIsClearedAfterUse) {
  for (int round = 0; round < 2; ++round) {
    auto* const object = RecycledMemory::take_cleared(10, 30);
    ASSERT_NE(object, nullptr);
    auto const bytes = bytes_at(object, 300);
    EXPECT_TRUE(std::ranges::all_of(bytes, [](unsigned char c) { return c == 0; }));
    std::ranges::fill(bytes, 'x');
    RecycledMemory::give(object);
  }
  auto const many = std::numeric_limits<std::size_t>::max() / 4;
  EXPECT_EQ(RecycledMemory::take_cleared(many, 8), nullptr);
}

TEST(RecycledMemoryTest, ResizedKeepsItsContent) {
  auto* object = RecycledMemory::resize(nullptr, 100);
  ASSERT_NE(object, nullptr);
  std::ranges::fill(bytes_at(object, 100), 'x');
  object = RecycledMemory::resize(object, 5000);
  ASSERT_NE(object, nullptr);
  EXPECT_TRUE(std::ranges::all_of(bytes_at(object, 100), [](unsigned char c) { return c == 'x'; }));
  RecycledMemory::give(object);
  RecycledMemory::give(nullptr);
}

/// A sanitizer finds what is lost or freed twice.
TEST(RecycledMemoryTest, MayBeReturnedOnAnotherThread) {
  std::array<void*, 50> objects{};
  for (void*& object : objects) object = RecycledMemory::take(200);
  std::thread([&objects] {
    for (void* const object : objects) RecycledMemory::give(object);
    for (void*& object : objects) object = RecycledMemory::take(200);
  }).join();
  for (void* const object : objects) RecycledMemory::give(object);
}

}  // namespace
}  // namespace reprise
