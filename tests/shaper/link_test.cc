#include "shaper/link.h"

#include "tests/rounds.h"
#include "tests/shaper/link_fixture.h"

namespace reprise {
namespace {

TEST(Link, TakesSizeByRateThenTheDelay) {
  LinkFixture link({.rate_bps = 12'000'000, .delay = 20ms});
  EXPECT_EQ(link.send(1500, 5ms), Admission::queued);
  EXPECT_EQ(link.link().next_event(), 26ms);
  link.take(26ms - 1ns);
  EXPECT_TRUE(link.all().empty());
  link.take(26ms);
  EXPECT_EQ(link.due(0), 26ms);
  EXPECT_EQ(link.link().next_event(), std::nullopt);
}

TEST(Link, GivesASmallPacketAfterIdleTimeNoHeadStart) {
  LinkFixture link({.rate_bps = 400'000});
  link.send(52, 10s);
  link.drain();
  EXPECT_EQ(link.due(0), 10s + 1040us);
}

TEST(Link, LetsABurstPassAtOnceOnlyWhenAskedFor) {
  LinkFixture link({.rate_bps = 12'000'000, .burst_bytes = 3000});
  for (int i = 0; i < 4; ++i) link.send(1500, 1s);
  link.drain();
  EXPECT_EQ(link.due(0), 1s);
  EXPECT_EQ(link.due(1), 1s);
  EXPECT_EQ(link.due(2), 1s + 1ms);
  EXPECT_EQ(link.due(3), 1s + 2ms);
}

TEST(Link, QueuesBehindWhatIsOnTheWire) {
  LinkFixture link({.rate_bps = 12'000'000});
  link.send(1500, 0ms);
  link.send(750, 500us);
  link.send(1500, 10ms);
  link.drain();
  EXPECT_EQ(link.due(0), 1ms);
  EXPECT_EQ(link.due(1), 1500us);
  EXPECT_EQ(link.due(2), 11ms);
}

TEST(Link, CarriesRemaindersSoThatTheRateHasNoDrift) {
  // A byte takes 8/7 of a nanosecond; seven take eight.
  LinkFixture link({.rate_bps = 7'000'000'000, .queue = {.packets = 1000}});
  for (int i = 0; i < 700; ++i) link.send(1, 0ns);
  link.drain();
  EXPECT_EQ(link.due(0), 2ns);  // rounded up
  EXPECT_EQ(link.due(6), 8ns);
  EXPECT_EQ(link.due(699), 800ns);
}

TEST(Link, LimitsWhatWaitsAndNotWhatPropagates) {
  LinkFixture link({.rate_bps = 12'000'000, .delay = 1h, .queue = {.packets = 2}});
  EXPECT_EQ(link.send(1500, 0ms), Admission::queued);  // on the wire
  EXPECT_EQ(link.send(1500, 0ms), Admission::queued);
  EXPECT_EQ(link.send(1500, 0ms), Admission::queued);
  EXPECT_EQ(link.send(1500, 0ms), Admission::queue_full);
  EXPECT_EQ(link.send(1500, 1ms), Admission::queued);
  EXPECT_EQ(link.send(1500, 1ms), Admission::queue_full);
  for (int i = 2; i < 300; ++i) EXPECT_EQ(link.send(1500, i * 1ms), Admission::queued);
  EXPECT_EQ(link.link().counters().queue_drops, 2);
}

TEST(Link, LimitsBytesToo) {
  LinkFixture link({.rate_bps = 8000, .queue = {.packets = 0, .bytes = 1000}});
  EXPECT_EQ(link.send(1500, 0ms), Admission::queued);
  EXPECT_EQ(link.send(600, 0ms), Admission::queued);
  EXPECT_EQ(link.send(401, 0ms), Admission::queue_full);
  EXPECT_EQ(link.send(400, 0ms), Admission::queued);
  EXPECT_EQ(link.link().counters().queued_bytes, 1000);
}

TEST(Link, WithoutARateOnlyDelays) {
  LinkFixture link({.delay = 10ms, .queue = {.packets = 1}});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(link.send(65'535, 3ms), Admission::queued);
  link.drain();
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(link.due(i), 13ms);
}

TEST(Link, HoldsABoundedNumberOfPacketsAlsoWithoutARate) {
  Link link({.delay = 1h}, kSeed, 0, 0ns);
  for (std::uint64_t i = 0; i < 4'194'304; ++i) {
    ASSERT_EQ(link.enqueue({.handle = i, .size_bytes = 40}, 0ns), Admission::queued) << i;
  }
  EXPECT_EQ(link.enqueue({.handle = 0, .size_bytes = 40}, 0ns), Admission::queue_full);
}

TEST(Link, StartsAPacketWithAnEarlierStampWhenTheWireWasFree) {
  LinkFixture link({.rate_bps = 12'000'000});
  link.send(1500, 0ms);
  link.take(10ms);
  link.send(1500, 5ms);
  link.send(1500, 5ms);
  EXPECT_EQ(link.link().next_event(), 6ms);
  link.take(10ms);
  EXPECT_EQ(link.due(1), 6ms);
  EXPECT_EQ(link.due(2), 7ms);
}

TEST(Link, GoesOnAtTheNewRateInTheMiddleOfAPacket) {
  LinkFixture link({.rate_bps = 12'000'000, .delay = 5ms});
  link.send(1500, 0ms);
  link.send(1500, 0ms);
  link.link().change({.rate_bps = 1'200'000, .delay = 7ms}, 1500us);
  EXPECT_EQ(link.link().next_event(), 1500us);  // it may come to be earlier then
  link.drain();
  EXPECT_EQ(link.due(0), 6ms);
  EXPECT_EQ(link.due(1), 1500us + 5ms + 7ms);
}

TEST(Link, WakesAtAChangeThatFreesASlowWire) {
  LinkFixture link({.rate_bps = 8});
  link.send(1500, 0ms);
  link.link().change({}, 2s);
  link.drain();
  EXPECT_EQ(link.due(0), 2s);
}

TEST(Link, TurnsFromATraceToARateAndBack) {
  auto const trace = trace_of("1000\n");
  LinkFixture link({.trace = trace});
  link.send(1500, 0ms);
  link.send(1500, 0ms);
  link.link().change({.rate_bps = 12'000'000}, 1500ms);
  link.link().change({.trace = trace}, 1600ms);
  link.take(1600ms);
  link.send(1500, 1700ms);
  link.link().change({.trace = trace, .delay = 3ms}, 1800ms);
  link.drain();
  EXPECT_EQ(link.due(0), 1000ms);
  EXPECT_EQ(link.due(1), 1501ms);
  EXPECT_EQ(link.due(2), 2003ms);
}

TEST(Link, KeepsOrderWhenTheDelayShrinks) {
  LinkFixture link({.delay = 100ms});
  link.send(100, 0ms);
  link.link().change({.delay = 10ms}, 1ms);
  link.send(100, 2ms);
  link.drain();
  EXPECT_EQ(link.due(0), 100ms);
  EXPECT_EQ(link.due(1), 100ms);
}

TEST(Link, KeepsWhatWaitsWhenTheQueueShrinks) {
  LinkFixture link({.rate_bps = 12'000'000});
  for (int i = 0; i < 10; ++i) link.send(1500, 0ms);
  link.link().change({.rate_bps = 12'000'000, .queue = {.packets = 1}}, 0ms);
  EXPECT_EQ(link.send(1500, 0ms), Admission::queue_full);
  link.drain();
  EXPECT_EQ(link.due(9), 10ms);
}

TEST(Link, DropsArrivalsInAnOutageAndHoldsTheWire) {
  LinkFixture link(
      {.rate_bps = 12'000'000, .delay = 3ms, .outages = {.off = {{10ms, 20ms}, {20500us, 21ms}}}});
  link.send(1500, 8500us);  // leaves before
  link.send(1500, 9ms);     // half of it before, half after
  EXPECT_EQ(link.send(1500, 10ms), Admission::outage);
  EXPECT_EQ(link.send(1500, 20ms - 1ns), Admission::outage);
  EXPECT_EQ(link.send(1500, 20ms), Admission::queued);
  link.drain();
  EXPECT_EQ(link.due(0), 12500us);
  EXPECT_EQ(link.due(1), 23500us);
  EXPECT_EQ(link.due(4), 25ms);  // half a millisecond is off in its middle
  EXPECT_EQ(link.link().counters().outage_drops, 2);
}

TEST(Link, RepeatsOutagesHoweverLongAPacketTakes) {
  // 1 ms on, 1 ms off: 12000 s of sending take twice as long.
  LinkFixture link({.rate_bps = 1, .outages = {.off = {{1ms, 2ms}}, .repeat = 2ms}});
  link.send(1500, 0ms);
  link.drain();
  EXPECT_EQ(link.due(0), 24000s - 1ms);
}

TEST(Link, AddsJitterOnlyAboveTheDelayAndKeepsOrder) {
  LinkFixture link({.delay = 10ms, .jitter = 5ms});
  for (int i = 0; i < 10'000; ++i) link.send(100, i * 1ms);
  link.drain();
  nanoseconds added{0};
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    auto const more = link.due(i) - i * 1ms - 10ms;
    ASSERT_GE(more, 0ms);
    ASSERT_LE(more, 5ms);
    if (i > 0) ASSERT_GE(link.due(i), link.due(i - 1));
    added += more;
  }
  // Uniform alone would be 2.5; keeping order makes some wait for the one before.
  EXPECT_GT(added / 10'000, 2400us);
  EXPECT_LT(added / 10'000, 4ms);
}

TEST(Link, LetsPacketsOvertakeWhenAskedTo) {
  LinkFixture link({.delay = 10ms, .jitter = 5ms, .reorder = true});
  for (int i = 0; i < 10'000; ++i) link.send(100, i * 1ms);
  link.drain();
  int overtakes = 0;
  nanoseconds added{0};
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    added += link.due(i) - i * 1ms - 10ms;
    if (i > 0 && link.due(i) < link.due(i - 1)) ++overtakes;
    if (i > 0) ASSERT_GE(link.all()[i].due, link.all()[i - 1].due);
  }
  EXPECT_NEAR(static_cast<double>((added / 10'000).count()), 2.5e6, 5e4);
  EXPECT_GT(overtakes, 1000);
}

TEST(Link, TellsWhenAPacketLeftTheWire) {
  for (bool const reorder : {false, true}) {
    LinkFixture link({.trace = trace_of("10\n"), .delay = 7ms, .jitter = 50ms, .reorder = reorder});
    for (int i = 0; i < 20; ++i) link.send(1500, 0ms);
    link.drain();
    ASSERT_EQ(link.all().size(), 20);
    for (const Departure& departure : link.all()) {
      EXPECT_EQ(departure.left, (departure.handle + 1) * 10ms);
      EXPECT_GE(departure.due, departure.left + 7ms);
    }
  }
}

TEST(Link, HasRandomnessOfItsOwnInEachDirection) {
  LinkSettings const settings{.loss = {.in_good = 0.5}};
  Link down(settings, kSeed, 0, 0ns);
  Link up(settings, kSeed, 1, 0ns);
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    same += down.enqueue({i, 100}, 0ns) == up.enqueue({i, 100}, 0ns) ? 1 : 0;
  }
  EXPECT_NEAR(same, 500, 60);
}

TEST(Link, CarriesADayOfTrafficWithoutDrift) {
  // Packets of 1500 and 52 bytes, more than fit.
  constexpr int kHours = rounds_of(24);
  LinkFixture link({.rate_bps = 299'993, .delay = 20ms});
  std::uint64_t bits = 0;
  nanoseconds last{0};
  std::vector<Departure> out;
  constexpr std::uint64_t packets = kHours * 3600ULL * 42;
  for (std::uint64_t i = 0; i < packets; ++i) {
    // Some are there at once, so that the wire never idles.
    auto const now = nanoseconds((i < 20 ? 0 : i - 20) * (1'000'000'000 / 42));
    std::uint32_t const size = i % 3 == 0 ? 52 : 1500;
    out.clear();
    link.link().take_due(now, out);
    if (!out.empty()) last = out.back().due;
    // The handle is how much was sent by the packet's end.
    if (link.link().enqueue({.handle = bits + size * 8, .size_bytes = size}, now) ==
        Admission::queued) {
      bits += size * 8;
    }
    if (out.empty()) continue;
    auto const exact = static_cast<unsigned __int128>(out.back().handle) * 1'000'000'000;
    ASSERT_EQ(last - 20ms, nanoseconds(static_cast<std::int64_t>((exact + 299'992) / 299'993)));
  }
  EXPECT_GT(last, std::chrono::hours(kHours) - 1min);
}

TEST(LinkDeathTest, RefusesSettingsThatMakeNoSense) {
  EXPECT_DEATH(Link({.rate_bps = kRateMaxBps + 1}, kSeed, 0, 0ns), "the rate is above 1 Tbit/s");
}

}  // namespace
}  // namespace reprise
