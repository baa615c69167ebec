#include "shaper/packet/lateness.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

using std::chrono::nanoseconds;

TEST(LatenessHistogram, IsEmptyAtFirst) {
  auto const summary = LatenessHistogram().summary();
  EXPECT_EQ(summary.packets, 0U);
  EXPECT_EQ(summary.p99, nanoseconds(0));
}

TEST(LatenessHistogram, QuantilesAreWithinSixPercentAndTheMaximumExact) {
  LatenessHistogram histogram;
  for (int i = 1; i <= 100'000; ++i) histogram.add(nanoseconds(i * 37), 1);
  auto const summary = histogram.summary();
  EXPECT_EQ(summary.packets, 100'000U);
  EXPECT_NEAR(static_cast<double>(summary.p50.count()), 50'000 * 37, 50'000 * 37 * 0.0625);
  EXPECT_NEAR(static_cast<double>(summary.p99.count()), 99'000 * 37, 99'000 * 37 * 0.0625);
  EXPECT_EQ(summary.max, nanoseconds(3'700'000));
}

TEST(LatenessHistogram, TakesAnyTime) {
  LatenessHistogram histogram;
  histogram.add(nanoseconds(-5), 1);
  histogram.add(nanoseconds::max(), 1);
  EXPECT_EQ(histogram.summary().packets, 2U);
  EXPECT_EQ(histogram.summary().max, nanoseconds::max());
}

TEST(LatenessHistogram, OneLatePacketInAHundredIsNotYetTheP99) {
  LatenessHistogram histogram;
  histogram.add(nanoseconds(10), 99);
  histogram.add(std::chrono::milliseconds(5), 1);
  EXPECT_EQ(histogram.summary().p99, nanoseconds(10));
  histogram.add(std::chrono::milliseconds(5), 1);
  EXPECT_GT(histogram.summary().p99, std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace reprise
