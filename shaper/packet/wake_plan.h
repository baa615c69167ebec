#pragma once

#include <chrono>
#include <optional>

namespace reprise {

/// When to stop sleeping before an event that must not be late. A thread that sleeps until the
/// event itself wakes 30 to 100 us after it; one that wakes earlier and watches the clock is exact,
/// but uses a processor that the browser may need. So the plan learns what sleeping costs here and
/// now, wakes that much earlier, and watches the clock for a limited share of the time at most.
/// Pure. Not thread-safe.
class WakePlan {
 public:
  using Time = std::chrono::nanoseconds;

  /// `processors` are those that the process may use; with one it never watches the clock. Once the
  /// share is used up it sleeps for `rest` at least: what falls due meanwhile is late by that at
  /// most, and goes together.
  WakePlan(unsigned processors, Time rest);

  /// When to end the sleep before an event at `due`; none: do not sleep, watch the clock. It is at
  /// most half of the wait earlier, so that a thread of real-time priority sleeps in each wait.
  std::optional<Time> wake_at(Time now, Time due) const;
  /// A sleep that was to end at `asked` ended at `woke`.
  void slept(Time asked, Time woke);
  /// It is `now`, and the time since `from` went into watching the clock.
  void watched(Time from, Time now);

  /// A wait too short to sleep.
  static constexpr Time kSleepMin = std::chrono::microseconds(20);
  /// The largest share of the time that goes into watching the clock.
  static constexpr double kWatchShareMax = 0.03;

 private:
  void refill(Time now);

  Time late_usually_{std::chrono::microseconds(40)};  ///< about the median of sleeps
  Time late_rarely_{std::chrono::microseconds(80)};   ///< about the 95th percentile
  double share_;
  Time rest_;
  Time left_{0};  ///< of the time for watching
  Time refilled_{0};
};

}  // namespace reprise
