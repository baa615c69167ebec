#pragma once

// Loads that are repeated because something disturbed them, and when the machine is too busy to
// continue. Pure.

#include <cstddef>

namespace reprise {

/// After fewer disturbed runs nothing is concluded: a busy moment passes.
inline constexpr std::size_t kDisturbedRunsMax = 6;

/// Counts the disturbed runs of one measurement; where each run is one load, the disturbed loads.
class DisturbedRepeats {
 public:
  /// One more run was disturbed.
  void add() { ++disturbed_; }
  /// Whether kDisturbedRunsMax runs were, and more than twice as many as the `counted` ones: for
  /// measurements that end as undecided then.
  bool too_many(std::size_t counted) const { return is_used_up() && disturbed_ > 2 * counted; }
  /// Whether kDisturbedRunsMax runs were: for measurements that continue without repeats then.
  bool is_used_up() const { return disturbed_ >= kDisturbedRunsMax; }

 private:
  std::size_t disturbed_ = 0;
};

}  // namespace reprise
