#include "shaper/packet/wake_plan.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

using namespace std::chrono_literals;
using Time = WakePlan::Time;

constexpr Time kRest = 150us;

/// Sleeps before events each `period`, and always wakes `late`; returns the time spent watching the
/// clock, and stores how late the last event was.
Time watched_over(WakePlan& plan, Time duration, Time period, Time late, Time* lateness = nullptr) {
  Time watched{0};
  Time now = 1s;
  for (Time const end = now + duration; now < end;) {
    auto const due = now + period;
    auto const asked = plan.wake_at(now, due);
    if (asked) {
      now = *asked + late;
      plan.slept(*asked, now);
    }
    if (now < due) {
      plan.watched(now, due);
      watched += due - now;
      now = due;
    }
    if (lateness != nullptr) *lateness = now - due;
  }
  return watched;
}

TEST(WakePlan, WakesEarlierByWhatSleepingCosts) {
  for (Time const late : {5us, 40us, 90us}) {
    WakePlan plan(2, kRest);
    watched_over(plan, 10s, 10ms, late);
    auto const lead = 20ms - plan.wake_at(10ms, 20ms).value();
    EXPECT_GE(lead, late);
    EXPECT_LE(lead, late + 10us);
  }
}

TEST(WakePlan, IsExactWhereEventsAreRare) {
  WakePlan plan(2, kRest);
  Time lateness{-1};
  watched_over(plan, 5s, 10ms, 60us, &lateness);
  EXPECT_EQ(lateness, 0us);
}

TEST(WakePlan, WatchesTheClockForItsShareAtMost) {
  for (Time const period : std::initializer_list<Time>{50us, 120us, 1ms}) {
    WakePlan plan(2, kRest);
    watched_over(plan, 1s, period, 10us);  // what was saved up is spent
    auto const watched = watched_over(plan, 10s, period, 10us);
    EXPECT_LE(watched, 10s * WakePlan::kWatchShareMax + 6ms);
  }
}

TEST(WakePlan, NeverWatchesTheClockOnASingleProcessor) {
  WakePlan plan(1, kRest);
  watched_over(plan, 1s, 1ms, 50us);
  EXPECT_LE(watched_over(plan, 10s, 1ms, 50us), 40ms);  // it wakes a little before, or after
}

TEST(WakePlan, SleepsHalfOfAWaitAtLeast) {
  WakePlan plan(2, kRest);
  plan.slept(0ms, 100ms);  // saved up for watching
  EXPECT_EQ(plan.wake_at(1000us, 1060us), 1030us);
}

TEST(WakePlan, OnceTheShareIsUsedUpItRestsAndIsLateByThatAtMost) {
  WakePlan plan(2, kRest);
  plan.watched(0ms, 1s);
  for (Time const due : {1000us, 1010us, 1120us}) {
    auto const wake = plan.wake_at(1000us, due);
    ASSERT_TRUE(wake);
    EXPECT_GE(*wake, 1000us + kRest - 100us);
    EXPECT_LE(*wake, 1000us + kRest);
  }
}

TEST(WakePlan, DoesNotLearnFromAStallForLong) {
  WakePlan plan(2, kRest);
  watched_over(plan, 1s, 10ms, 40us);
  auto const before = plan.wake_at(10ms, 20ms).value();
  plan.slept(0ms, 30ms);
  EXPECT_LE(before - plan.wake_at(10ms, 20ms).value(), 4us);
}

}  // namespace
}  // namespace reprise
