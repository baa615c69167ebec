#pragma once

#include <chrono>

#include "shaper/settings.h"

namespace reprise {

/// A time that is never reached, far enough from the maximum to add to it.
inline constexpr std::chrono::nanoseconds kNever{std::int64_t{1} << 62};

/// The on/off state of a link as a function of time. The outages must be in order (defect_of).
class OutageClock {
 public:
  OutageClock(const Outages& outages, std::chrono::nanoseconds start);

  bool always_on() const { return outages_.off.empty(); }

  struct State {
    bool off;
    std::chrono::nanoseconds until;  ///< the next change, after the given time; or kNever
  };
  State at(std::chrono::nanoseconds time) const;

  /// How much of [from, to) the link is on.
  std::chrono::nanoseconds on_time(std::chrono::nanoseconds from,
                                   std::chrono::nanoseconds to) const;

  /// For repeated outages: the time from one to the next, and the part of it with the link on. Zero
  /// for others.
  std::chrono::nanoseconds period() const { return outages_.repeat; }
  std::chrono::nanoseconds on_per_period() const { return on_per_period_; }

 private:
  Outages outages_;
  std::chrono::nanoseconds start_;
  std::chrono::nanoseconds on_per_period_{0};
};

}  // namespace reprise
