#include "proxy/tls/record_sizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace reprise {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSegment = RecordSizer::kSegmentBytes;
constexpr std::size_t kFull = RecordSizer::kRecordBytesMax;

/// A connection whose writes are steps in time. Each returns the sizes of its records.
class RecordSizes : public testing::Test {
 protected:
  std::vector<std::size_t> write(std::size_t bytes) {
    sizer_.begin(now_);
    return records(bytes);
  }
  std::vector<std::size_t> write_on(std::size_t bytes) {
    sizer_.go_on(now_);
    return records(bytes);
  }
  void pass(std::chrono::microseconds time) { now_ += time; }

 private:
  std::vector<std::size_t> records(std::size_t bytes) {
    std::vector<std::size_t> sizes;
    while (bytes > 0) {
      sizes.push_back(std::min(bytes, sizer_.next_bytes()));
      sizer_.sent(sizes.back());
      bytes -= sizes.back();
    }
    return sizes;
  }

  RecordSizer sizer_;
  RecordSizer::Time now_{1h};
};

TEST_F(RecordSizes, FitASegmentInTheWholeFirstFlight) {
  auto const sizes = write(10 * kSegment);
  EXPECT_EQ(sizes, std::vector(10, kSegment));
}

TEST_F(RecordSizes, NeverTakeMoreThanAQuarterOfWhatWasSent) {
  std::size_t before = 10 * kSegment;
  write(before);
  for (auto const size : write(1 << 20)) {
    EXPECT_LE(size, before / 4);
    before += size;
  }
}

TEST_F(RecordSizes, OfALargeBodyAreSoonFull) {
  auto const sizes = write(1 << 20);
  std::size_t before_full = 0;
  for (auto const size : sizes) {
    if (size == kFull) break;
    before_full += size;
  }
  EXPECT_LE(before_full, 80'000U);
  EXPECT_EQ(sizes[sizes.size() - 2], kFull);
  EXPECT_LE(sizes.size(), 85U) << "64 would do";
}

TEST_F(RecordSizes, AreFullAtOnceWhereTheLastAnswerOpenedTheWindow) {
  write(100'000);
  pass(50ms);
  EXPECT_EQ(write(100'000).front(), kFull);
}

TEST_F(RecordSizes, FitASegmentWhereEachAnswerBeforeWasSmall) {
  for (int i = 0; i < 1000; ++i) {
    write(1000);
    pass(100ms);
  }
  EXPECT_EQ(write(60'000).front(), kSegment) << "the window is that of the start";
}

TEST_F(RecordSizes, OfSmallAnswersInOneFlightCountTogether) {
  for (int i = 0; i < 100; ++i) {
    write(1000);
    pass(20us);
  }
  EXPECT_EQ(write(60'000).front(), kFull);
}

TEST_F(RecordSizes, FitASegmentAgainAfterIdling) {
  write(1 << 20);
  pass(RecordSizer::kIdlePause - 1us);
  EXPECT_EQ(write(1 << 20).front(), kFull);
  pass(RecordSizer::kIdlePause);
  EXPECT_EQ(write(10 * kSegment), std::vector(10, kSegment));
}

TEST_F(RecordSizes, StayFullWhereTheSocketTakesItsTime) {
  write(1 << 20);
  pass(5s);
  EXPECT_EQ(write_on(1 << 20).front(), kFull);
  pass(RecordSizer::kIdlePause - 1us);
  EXPECT_EQ(write(1 << 20).front(), kFull);
}

}  // namespace
}  // namespace reprise
