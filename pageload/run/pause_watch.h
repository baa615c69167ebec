#pragma once

#include <chrono>
#include <optional>
#include <vector>

namespace reprise {

/// Finds the pauses of a whole group of processes (`docker pause`, the freezer of a control group,
/// a host that stops its machine) by a thread of the group that looks at the clock again and again:
/// a thread that is paused cannot look. Time in which it waited for a processor does not count: the
/// load itself can be the reason for that. Pure.
class PauseWatch {
 public:
  using Time = std::chrono::nanoseconds;

  /// Shorter ones are not counted: the period of processor quotas is as long, and those have a
  /// counter of their own.
  static constexpr Time kPauseMin = std::chrono::milliseconds(100);

  /// Looks are that far apart.
  explicit PauseWatch(Time interval) : interval_(interval) {}

  /// `now` by CLOCK_MONOTONIC; `waited`: how long this thread has waited for a processor so far.
  /// Without that, or that of the look before, nothing is found.
  void look(Time now, std::optional<Time> waited);
  /// How long the pauses between two moments were together, at least.
  Time between(Time from, Time to) const;

 private:
  struct Look {
    Time now;
    std::optional<Time> waited;
  };
  struct Pause {
    Time from, to;  ///< it lies between
    Time lasted;
  };

  Time interval_;
  std::optional<Look> last_;
  std::vector<Pause> pauses_;
};

/// How long this thread has waited for a processor since it was made (schedstat); nothing where the
/// kernel does not tell.
std::optional<PauseWatch::Time> own_waiting_time();

}  // namespace reprise
