#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

#include "shaper/packet/lateness_curve.h"

namespace reprise {

/// What late packets can have cost whoever exchanged them: the largest sum of lateness along any
/// chain of packets in which each reached the link after writing the one before had begun. Only
/// such a packet can wait for another: a request, its answer, the next request. Packets that are on
/// the link at the same time are late together, and count once.
///
/// Why not after it was written: a veth device can hand a packet to its receiver within the call
/// that writes it, so that the answer reaches the link before that call returns.
///
/// An upper bound: most chains are not what the page waited for. It is the longest path through
/// the packets in the order of causality (Lamport, 1978), found as they are written. Not
/// thread-safe.
class LatenessChain {
 public:
  /// When things happened to a packet, by the link's clock.
  struct Packet {
    std::chrono::nanoseconds arrived;  ///< at the link
    std::chrono::nanoseconds due;
    std::chrono::nanoseconds begun;    ///< writing it; not before the packet added before
    std::chrono::nanoseconds written;  ///< at the latest
  };
  void add(const Packet& packet);

  /// Of all packets so far.
  std::chrono::nanoseconds cost() const {
    return steps_.empty() ? std::chrono::nanoseconds(0) : steps_.back().cost;
  }
  /// How that grew. Between two moments the cost of the packets that arrived after the first, and
  /// whose writing began before the second, is at most its growth: each of them could have waited
  /// for all packets before.
  const LatenessCurve& curve() const { return curve_; }
  /// From the first packet's arrival to the last one's end.
  std::chrono::nanoseconds span() const { return last_written_ - first_arrived_; }

 private:
  /// Steps beyond are forgotten, oldest first: a packet that reached the link before the oldest
  /// one kept is charged as if it had come just after it, so the bound remains one.
  static constexpr std::size_t kStepsMax = 1 << 16;

  /// From `begun` on, chains cost up to `cost`; both increase.
  struct Step {
    std::chrono::nanoseconds begun;
    std::chrono::nanoseconds cost;
  };

  std::chrono::nanoseconds cost_before(std::chrono::nanoseconds arrived) const;

  std::deque<Step> steps_;
  LatenessCurve curve_;
  bool forgot_ = false;
  std::chrono::nanoseconds first_arrived_{0};
  std::chrono::nanoseconds last_written_{0};
};

}  // namespace reprise
