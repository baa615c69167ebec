#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace reprise {

/// Bytes sent on a TCP connection that its peer has not acknowledged. 0 once the connection is
/// over, and for sockets of other kinds.
std::uint64_t undelivered_bytes(int socket);

/// How long a connection waits for its peer before it is reset, because a reset discards what the
/// peer has not received: until it has everything, or has received nothing for kPatience. No event
/// of the kernel tells, so look again every kPause. Pure: the caller passes counts and times.
class DeliveryWait {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::chrono::seconds kPatience{30};
  static constexpr std::chrono::milliseconds kPause{10};

  /// Whether the wait is over. `left_bytes`: not yet received; `now`: of a monotonic clock.
  bool is_over(std::uint64_t left_bytes, Time now);

 private:
  std::uint64_t left_bytes_ = 0;
  std::optional<Time> unchanged_since_;
};

}  // namespace reprise
