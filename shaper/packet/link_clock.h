#pragma once

#include <chrono>

#include "base/system/clock.h"

namespace reprise {

/// The clock of the packet link: CLOCK_MONOTONIC.
inline std::chrono::nanoseconds link_now() {
  return read_clock(CLOCK_MONOTONIC);
}

/// Converts the kernel's stamps, which are by CLOCK_REALTIME, to the link's clock. The distance of
/// the two changes as the system's time is corrected, so it is measured again and again.
class StampClock {
 public:
  /// `now` by the link's clock.
  std::chrono::nanoseconds to_link(std::chrono::nanoseconds stamp, std::chrono::nanoseconds now) {
    if (now >= measure_at_) measure(now);
    return stamp + distance_;
  }

 private:
  static constexpr std::chrono::nanoseconds kPeriod = std::chrono::milliseconds(20);
  static constexpr int kTries = 3;

  void measure(std::chrono::nanoseconds now) {
    auto best = std::chrono::nanoseconds::max();
    for (int i = 0; i < kTries; ++i) {
      auto const before = link_now();
      auto const real = read_clock(CLOCK_REALTIME);
      auto const took = link_now() - before;
      if (took >= best) continue;
      best = took;
      distance_ = before + took / 2 - real;
    }
    measure_at_ = now + kPeriod;
  }

  std::chrono::nanoseconds distance_{0};
  std::chrono::nanoseconds measure_at_{0};
};

}  // namespace reprise
