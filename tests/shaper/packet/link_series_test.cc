#include "shaper/packet/link_series.h"

#include <gmock/gmock.h>

#include <random>

#include "shaper/trace.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using ::testing::Each;
using ::testing::Field;

constexpr nanoseconds kStart = 1000s;
constexpr std::uint32_t kBytes = 1500;
constexpr nanoseconds kOnWire = 10ms;  // of kBytes at 1.2 Mbit/s

/// A packet of a link with 1.2 Mbit/s and 50 ms each way, that `left` the wire when it did.
LinkLogEntry passed(nanoseconds in, nanoseconds left) {
  return {.in = kStart + in,
          .left = kStart + left,
          .due = kStart + left + 50ms,
          .written = kStart + left + 50ms,
          .bytes = kBytes};
}

LinkLogEntry dropped(nanoseconds at, LinkLogEntry::Fate fate) {
  return {.in = kStart + at, .due = kStart + at, .bytes = kBytes, .fate = fate};
}

class Series : public testing::Test {
 protected:
  Series() { series_.set_start(kStart); }

  LinkTimeline down() const { return series_.timeline(LinkSide::down); }

  static double total_bits(const LinkTimeline& line) {
    double bits = 0;
    for (auto const& span : line.spans) {
      bits += span.rate_bps * std::chrono::duration<double>(line.width).count();
    }
    return bits;
  }

  LinkSeries series_{*parse_link("1.2mbit/1.2mbit/100ms")};
};

TEST_F(Series, IsEmptyWithoutPackets) {
  EXPECT_TRUE(down().spans.empty());
}

TEST_F(Series, PacketCountsWhereItWas) {
  series_.append(passed(10ms, 30ms));
  auto const line = down();
  ASSERT_EQ(line.width, 5ms);
  ASSERT_EQ(line.spans.size(), 17U);  // up to its end at 80 ms
  for (std::size_t i = 0; i < line.spans.size(); ++i) {
    bool const queued = i >= 2 && i < 6;
    bool const on_wire = i >= 4 && i < 6;
    EXPECT_DOUBLE_EQ(line.spans[i].queue_bytes, queued ? kBytes : 0) << i;
    EXPECT_DOUBLE_EQ(line.spans[i].rate_bps, on_wire ? 1.2e6 : 0) << i;
    EXPECT_EQ(line.spans[i].packets, i == 2 ? 1U : 0U) << i;
  }
  EXPECT_DOUBLE_EQ(line.spans[2].delay_mean_ms, 70);
  EXPECT_DOUBLE_EQ(line.spans[2].delay_max_ms, 70);
}

TEST_F(Series, PartsOfASpanCountInPart) {
  series_.append(passed(1ms, 12ms));
  auto const& spans = down().spans;
  EXPECT_DOUBLE_EQ(spans[0].queue_bytes, kBytes * 4 / 5.0);
  EXPECT_DOUBLE_EQ(spans[1].queue_bytes, kBytes);
  EXPECT_DOUBLE_EQ(spans[2].queue_bytes, kBytes * 2 / 5.0);
  EXPECT_DOUBLE_EQ(spans[0].rate_bps, 1.2e6 * 3 / 5.0);
}

TEST_F(Series, WhatWasRefusedWasNeverQueued) {
  using Fate = LinkLogEntry::Fate;
  for (auto const fate : {Fate::lost, Fate::queue_full, Fate::aqm_drop, Fate::outage}) {
    series_.append(dropped(7ms, fate));
  }
  auto const line = down();
  ASSERT_EQ(line.spans.size(), 2U);
  EXPECT_EQ(line.spans[1].drops, 4U);
  EXPECT_EQ(line.spans[1].packets, 0U);
  EXPECT_THAT(line.spans, Each(Field(&LinkTimeline::Span::queue_bytes, 0.0)));
}

TEST_F(Series, WhatCodelDropsWasQueuedUntilThen) {
  auto entry = dropped(0ms, LinkLogEntry::Fate::codel_drop);
  entry.left = entry.due = kStart + 5ms;
  series_.append(entry);
  EXPECT_DOUBLE_EQ(down().spans[0].queue_bytes, kBytes);
  EXPECT_DOUBLE_EQ(down().spans[0].rate_bps, 0);
  EXPECT_EQ(down().spans[0].drops, 1U);
}

TEST_F(Series, UnlimitedLinkHasTheRateOfWhatLeft) {
  LinkSeries unlimited(*parse_link("none"));
  unlimited.set_start(kStart);
  unlimited.append({.in = kStart + 1ms,
                    .left = kStart + 1ms,
                    .due = kStart + 1ms,
                    .written = kStart + 1ms,
                    .bytes = 625,
                    .side = LinkSide::up});
  EXPECT_DOUBLE_EQ(unlimited.timeline(LinkSide::up).spans[0].rate_bps, 1e6);
  EXPECT_DOUBLE_EQ(unlimited.timeline(LinkSide::down).spans[0].rate_bps, 0);
}

TEST_F(Series, JitterDoesNotMakeTheWireFaster) {
  LinkSeries jittery(*parse_link("1.2mbit/1.2mbit/100ms,jitter=40ms"));
  jittery.set_start(kStart);
  constexpr int kPackets = 100;
  for (int i = 0; i < kPackets; ++i) {
    // They come faster than the wire takes them, and are passed on in pairs.
    auto const left = (i + 1) * kOnWire;
    auto entry = passed(i * 1ms, left);
    entry.due += i % 2 == 0 ? 12ms : 2ms;
    jittery.append(entry);
  }
  auto const line = jittery.timeline(LinkSide::down);
  EXPECT_NEAR(total_bits(line), kPackets * 8.0 * kBytes, 1);
  for (auto const& span : line.spans) EXPECT_LT(span.rate_bps, 1.2e6 * 1.001);
}

TEST_F(Series, JitterOfATraceIsNotInTheQueue) {
  auto profile = *parse_link("none,rtt=100ms,jitter=40ms");
  profile.down.trace = *Trace::parse("10\n", "test");
  LinkSeries traced(profile);
  traced.set_start(kStart);
  auto entry = passed(0ms, 10ms);
  entry.due += 40ms;
  entry.written = entry.due;
  traced.append(entry);
  auto const line = traced.timeline(LinkSide::down);
  ASSERT_EQ(line.spans.size(), 21U);  // up to its end at 100 ms
  for (std::size_t i = 0; i < line.spans.size(); ++i) {
    EXPECT_DOUBLE_EQ(line.spans[i].queue_bytes, i < 2 ? kBytes : 0) << i;
  }
  EXPECT_DOUBLE_EQ(line.spans[2].rate_bps * 0.005, 8.0 * kBytes);
}

TEST_F(Series, LongRunKeepsItsSumsInBoundedMemory) {
  constexpr int kPackets = 360'000;  // an hour of a full link
  for (int i = 0; i < kPackets; ++i) {
    // A second's worth always waits.
    series_.append(passed(i * kOnWire, i * kOnWire + 1s));
  }
  auto const line = down();
  ASSERT_LE(line.spans.size(), LinkSeries::kSpansMax);
  ASSERT_GT(line.spans.size(), LinkSeries::kSpansMax / 2);
  EXPECT_NEAR(total_bits(line) / (kPackets * 8.0 * kBytes), 1, 1e-9);
  std::uint64_t packets = 0;
  for (auto const& span : line.spans) packets += span.packets;
  EXPECT_EQ(packets, std::uint64_t{kPackets});
  for (std::size_t i = 1; i + 2 < line.spans.size(); ++i) {
    EXPECT_NEAR(line.spans[i].rate_bps, 1.2e6, 1) << i;
    EXPECT_NEAR(line.spans[i].queue_bytes, 100.0 * kBytes, 1) << i;
    EXPECT_NEAR(line.spans[i].delay_mean_ms, 1050, 1e-6) << i;
  }
}

TEST_F(Series, OrderOfPacketsAndJoinedSpansChangeNothing) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  std::vector<LinkLogEntry> entries;
  nanoseconds free{0};
  for (int i = 0; i < 2000; ++i) {
    nanoseconds const in = i * 7ms;
    free = std::max(free, in) + kOnWire / 2;
    entries.push_back(passed(in, free));
  }
  for (auto const& entry : entries) series_.append(entry);
  LinkSeries shuffled(*parse_link("1.2mbit/1.2mbit/100ms"));
  shuffled.set_start(kStart);
  std::shuffle(entries.begin(), entries.end(), random);
  for (auto const& entry : entries) shuffled.append(entry);
  auto const line = down();
  auto const other = shuffled.timeline(LinkSide::down);
  ASSERT_EQ(line.width, other.width);
  ASSERT_EQ(line.spans.size(), other.spans.size());
  for (std::size_t i = 0; i < line.spans.size(); ++i) {
    EXPECT_NEAR(line.spans[i].queue_bytes, other.spans[i].queue_bytes, 1e-3) << i;
    EXPECT_NEAR(line.spans[i].rate_bps, other.spans[i].rate_bps, 1) << i;
    EXPECT_EQ(line.spans[i].packets, other.spans[i].packets) << i;
  }
}

}  // namespace
}  // namespace reprise
