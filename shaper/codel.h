#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "shaper/queue.h"
#include "shaper/settings.h"

namespace reprise {

/// Controlled delay (RFC 8289 section 5, with its names): drops packets as they leave a queue in
/// which they wait longer than TARGET for an INTERVAL, more and more often while they do.
class Codel {
 public:
  explicit Codel(const ActiveQueue& settings);

  /// The packet to send next at `now`; those dropped before it are appended. Precondition: the
  /// queue is not empty. There is always a packet to send: the last MTU of a queue is never
  /// dropped.
  Waiting dequeue(WaitingQueue& queue, std::chrono::nanoseconds now, std::vector<Waiting>& dropped);

 private:
  struct Candidate {
    Waiting packet;
    bool ok_to_drop;
  };
  Candidate take(WaitingQueue& queue, std::chrono::nanoseconds now);
  std::chrono::nanoseconds control_law(std::chrono::nanoseconds from, std::uint32_t count) const;

  std::chrono::nanoseconds target_;
  std::chrono::nanoseconds interval_;
  std::optional<std::chrono::nanoseconds> first_above_time_;
  std::chrono::nanoseconds drop_next_{0};
  std::uint32_t count_ = 0;
  std::uint32_t last_count_ = 0;
  bool dropping_ = false;
};

}  // namespace reprise
