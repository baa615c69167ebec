// CoDel and PIE against what their RFCs say they do.

#include <cmath>

#include "shaper/codel.h"
#include "shaper/pie.h"
#include "tests/shaper/link_fixture.h"

namespace reprise {
namespace {

using testing::Each;

/// 12 Mbit/s: a packet a millisecond.
LinkSettings settings_with(QueueDiscipline discipline) {
  return {.rate_bps = 12'000'000,
          .queue = {.packets = 100'000},
          .active_queue = {.discipline = discipline}};
}

/// Sends full packets at `gap` for `time`, taking all that is due.
void send_for(LinkFixture& link, nanoseconds time, nanoseconds gap, nanoseconds from = 0ns) {
  for (auto now = from; now < from + time; now += gap) {
    link.take(now);
    link.send(1500, now);
  }
}

std::vector<nanoseconds> drop_times(const LinkFixture& link) {
  std::vector<nanoseconds> times;
  for (const Departure& departure : link.all()) {
    if (departure.outcome == PacketFate::dropped) times.push_back(departure.due);
  }
  return times;
}

TEST(Codel, LeavesAloneWhatStandsShorterThanTheTarget) {
  LinkFixture link(settings_with(QueueDiscipline::codel));
  for (int burst = 0; burst < 1000; ++burst) {
    for (int i = 0; i < 5; ++i) link.send(1500, burst * 5ms);
    link.take(burst * 5ms);
  }
  EXPECT_EQ(link.link().counters().aqm_drops, 0);
}

TEST(Codel, LeavesABurstAloneThatDrainsWithinAnInterval) {
  LinkFixture link(settings_with(QueueDiscipline::codel));
  for (int i = 0; i < 100; ++i) link.send(1500, 0ms);
  link.drain();
  EXPECT_EQ(link.link().counters().aqm_drops, 0);
}

TEST(Codel, DropsAfterAnIntervalAboveTheTargetAndThenByTheSquareRoot) {
  LinkFixture link(settings_with(QueueDiscipline::codel));
  send_for(link, 900ms, 500us);
  auto const drops = drop_times(link);
  ASSERT_GE(drops.size(), 5);
  // Every second packet waits: the one that leaves the queue at 11 ms has waited 5.5 ms, the one at
  // 10 ms just 5 ms, which is not below the target.
  EXPECT_EQ(drops[0], 110ms);
  double next = 210;  // INTERVAL / sqrt(1) later
  for (std::size_t i = 1; i < drops.size(); ++i) {
    // It drops as a packet leaves, which is once a millisecond.
    EXPECT_EQ(drops[i], std::chrono::milliseconds(std::llround(std::ceil(next - 1e-6)))) << i;
    next += 100 / std::sqrt(static_cast<double>(i + 1));
  }
}

TEST(Codel, NeverDropsTheLastPacketHoweverSlowTheLink) {
  auto settings = settings_with(QueueDiscipline::codel);
  settings.rate_bps = 12'000;  // the small packet waits for most of a second
  LinkFixture link(settings);
  for (int i = 0; i < 60; ++i) {
    link.send(1400, i * 1s);
    link.send(40, i * 1s);
    link.take(i * 1s);
  }
  EXPECT_GT(link.link().counters().packets_out, 100);
  EXPECT_EQ(link.link().counters().aqm_drops, 0);
}

TEST(Codel, StopsWhenTheQueueIsShortAgain) {
  LinkFixture link(settings_with(QueueDiscipline::codel));
  send_for(link, 500ms, 500us);
  auto const before = link.link().counters().aqm_drops;
  EXPECT_GT(before, 0);
  link.drain();
  auto const after = link.link().counters().aqm_drops;
  send_for(link, 2s, 1ms, 10s);
  link.drain();
  EXPECT_EQ(link.link().counters().aqm_drops, after);
}

TEST(Codel, BringsTheDelayOfAModestOverloadDown) {
  LinkFixture with(settings_with(QueueDiscipline::codel));
  LinkFixture without(settings_with(QueueDiscipline::drop_tail));
  send_for(with, 20s, 952us);  // 5 % too much
  send_for(without, 20s, 952us);
  EXPECT_LT(with.link().counters().queued_packets, 150);
  EXPECT_GT(without.link().counters().queued_packets, 900);
}

TEST(Pie, AllowsABurst) {
  LinkFixture link(settings_with(QueueDiscipline::pie));
  send_for(link, 150ms, 500us);
  EXPECT_EQ(link.link().counters().aqm_drops, 0);
}

TEST(Pie, HoldsAnOverloadAtTheReferenceDelay) {
  LinkFixture link(settings_with(QueueDiscipline::pie));
  constexpr auto kGap = nanoseconds(909'091);  // 10 % too much
  send_for(link, 30s, kGap);
  auto const before = link.link().counters();
  double waiting = 0;
  int samples = 0;
  for (auto now = nanoseconds(30s); now < 90s; now += kGap) {
    link.take(now);
    link.send(1500, now);
    waiting += static_cast<double>(link.link().counters().queued_packets);
    ++samples;
  }
  auto const after = link.link().counters();
  // A packet a millisecond: packets that wait are milliseconds of delay. QDELAY_REF is 15.
  EXPECT_NEAR(waiting / samples, 15, 5);
  auto const dropped = static_cast<double>(after.aqm_drops - before.aqm_drops);
  EXPECT_NEAR(dropped / static_cast<double>(after.packets_in - before.packets_in), 1 - 1 / 1.1,
              0.01);
}

TEST(Pie, MovesInSmallStepsWhileTheProbabilityIsSmall) {
  Pie pie({}, RandomStream(kSeed, 0, Purpose::active_queue), 0ns);
  EXPECT_EQ(pie.next_update(), 15ms);
  pie.left_queue(35ms);
  pie.update(false);
  // alpha (35 - 15 ms) + beta (35 - 0 ms), divided by 2048 below one in a million.
  EXPECT_DOUBLE_EQ(pie.drop_probability(), (0.125 * 0.020 + 1.25 * 0.035) / 2048);
  auto const first = pie.drop_probability();
  pie.update(false);
  EXPECT_DOUBLE_EQ(pie.drop_probability(), first + 0.125 * 0.020 / 128);
  EXPECT_EQ(pie.next_update(), 45ms);
}

TEST(Pie, ForgetsWhenTheQueueIsEmpty) {
  Pie pie({}, RandomStream(kSeed, 0, Purpose::active_queue), 0ns);
  pie.left_queue(1s);
  for (int i = 0; i < 100; ++i) pie.update(false);
  auto const before = pie.drop_probability();
  EXPECT_GT(before, 0.1);
  pie.update(true);
  pie.update(true);
  EXPECT_LT(pie.drop_probability(), before);
  pie.update_idle(24h);
  EXPECT_EQ(pie.drop_probability(), 0);
  EXPECT_GT(pie.next_update(), 24h);
  EXPECT_LE(pie.next_update(), 24h + 15ms);
}

}  // namespace
}  // namespace reprise
