#include "shaper/stream/stream_relay.h"

#include <gtest/gtest.h>

#include "shaper/trace.h"

namespace reprise {
namespace {

TEST(StreamRelay, ReadsAheadByTheRateOfTheLink) {
  EXPECT_EQ(StreamRelay::unsent_max({}), 256U << 10);
  EXPECT_EQ(StreamRelay::unsent_max({.rate_bps = 1'000'000}), 16U << 10);
  EXPECT_EQ(StreamRelay::unsent_max({.rate_bps = 200'000'000}), 50'000U);
}

TEST(StreamRelay, ReadsAheadByTheMeanRateOfATrace) {
  // 1.2 Mbit/s, 240 Mbit/s and less than 1 bit/s.
  EXPECT_EQ(StreamRelay::unsent_max({.trace = *Trace::parse("10\n", "t")}), 16U << 10);
  std::string fast;
  for (int i = 0; i < 20; ++i) fast += "1\n";
  EXPECT_EQ(StreamRelay::unsent_max({.trace = *Trace::parse(fast, "t")}), 60'000U);
  EXPECT_EQ(StreamRelay::unsent_max({.trace = *Trace::parse("4000000000\n", "t")}), 16U << 10);
}

}  // namespace
}  // namespace reprise
