#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace reprise {

/// Tells a peer that has left from one that has only ended its direction (RFC 9112 section 9.6):
/// both look the same until something is sent, which the system of a peer that has left answers
/// with a reset. For one connection. Pure.
class HalfClosed {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// A peer that gets nothing counts as gone after so long a wait: it may never get anything, and
  /// must not hold forever what works for it.
  static constexpr std::chrono::seconds kGrace{5};

  /// A new wait for the peer's leaving begins, with its own grace.
  void begin_wait() { since_.reset(); }
  /// Looks at a connection whose peer has ended its direction and that is not broken. `sent_bytes`:
  /// all that were sent to the peer. One that was sent something after its end is there.
  bool is_gone(Time now, std::uint64_t sent_bytes) {
    if (!since_) since_ = now;
    if (!sent_before_) sent_before_ = sent_bytes;
    return sent_bytes == *sent_before_ && now - *since_ > kGrace;
  }

 private:
  std::optional<Time> since_;                 // when this wait first saw the end
  std::optional<std::uint64_t> sent_before_;  // when any wait did
};

}  // namespace reprise
