#include "proxy/record/chunk_times.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace reprise {
namespace {

/// Of a body of which a byte came each millisecond.
std::vector<ChunkTime> times_of(std::uint64_t bytes) {
  ChunkTimes times;
  for (std::uint64_t i = 1; i <= bytes; ++i) {
    auto const at = std::chrono::milliseconds(static_cast<std::int64_t>(i));
    times.add({.end_bytes = i, .time = at});
  }
  return times.take();
}

TEST(ChunkTimes, AreKeptOfEveryPieceWhileThereIsRoom) {
  auto const times = times_of(kChunkTimesMax);
  ASSERT_EQ(times.size(), kChunkTimesMax);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i].end_bytes, i + 1);
}

TEST(ChunkTimes, OfMorePiecesAreThinnedOutAllAlong) {
  constexpr std::uint64_t kBytes = 50'000;
  auto const times = times_of(kBytes);
  EXPECT_LE(times.size(), kChunkTimesMax);
  EXPECT_GT(times.size(), kChunkTimesMax / 2);
  std::uint64_t before = 0;
  std::uint64_t widest = 0;
  for (const ChunkTime& chunk : times) {
    EXPECT_EQ(chunk.time.count() / 1'000'000, static_cast<std::int64_t>(chunk.end_bytes));
    EXPECT_GT(chunk.end_bytes, before);
    widest = std::max(widest, chunk.end_bytes - before);
    before = chunk.end_bytes;
  }
  EXPECT_EQ(before, kBytes);
  EXPECT_LE(widest, 16U);  // the least power of two for so many
}

}  // namespace
}  // namespace reprise
