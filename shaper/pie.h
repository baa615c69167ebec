#pragma once

#include <chrono>
#include <cstdint>

#include "shaper/queue.h"
#include "shaper/random.h"
#include "shaper/settings.h"

namespace reprise {

/// Proportional integral controller enhanced (RFC 8033 section 4, with its names): drops arriving
/// packets with a probability that follows the queueing delay, measured by timestamps (section
/// 5.2).
class Pie {
 public:
  Pie(const ActiveQueue& settings, RandomStream random, std::chrono::nanoseconds now);

  /// Whether packet `index` is dropped as it arrives at a queue of `queue_bytes`.
  bool drops(std::uint64_t index, std::uint64_t queue_bytes) const;

  /// Call it when a packet has left the queue after `waited`.
  void left_queue(std::chrono::nanoseconds waited) { current_qdelay_ = waited; }

  /// When to call update() next.
  std::chrono::nanoseconds next_update() const { return next_update_; }
  /// The periodic step of the controller (section 4.2).
  void update(bool queue_empty);
  /// Runs all steps due by `now`, with an empty queue.
  void update_idle(std::chrono::nanoseconds now);

  double drop_probability() const { return drop_prob_; }

 private:
  std::chrono::nanoseconds reference_;
  std::chrono::nanoseconds period_;
  RandomStream random_;
  std::chrono::nanoseconds next_update_;
  std::chrono::nanoseconds burst_allowance_;
  std::chrono::nanoseconds current_qdelay_{0};
  std::chrono::nanoseconds qdelay_old_{0};
  double drop_prob_ = 0;
};

}  // namespace reprise
