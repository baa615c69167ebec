#pragma once

#include <map>
#include <optional>
#include <vector>

#include "shaper/link.h"

namespace reprise {

/// What a link must do, written for being read: no queues, no events, no carried remainders. Every
/// packet is worked out from the whole history, in exact fractions of a nanosecond. Drop-tail only,
/// and without changes. Loss and jitter are draws, which are asked from what Link asks.
class ReferenceLink {
 public:
  ReferenceLink(const LinkSettings& settings, std::uint64_t seed);

  struct Fate {
    Admission verdict;
    std::chrono::nanoseconds leaves{0};  ///< the wire
    std::chrono::nanoseconds due{0};
  };
  Fate enqueue(std::uint32_t size_bytes, std::chrono::nanoseconds now);

 private:
  /// A time in units of 1/rate_bps ns.
  using Exact = __int128;

  struct Sent {
    std::uint32_t size_bytes;
    std::chrono::nanoseconds waits_until;  // leaves the queue then
  };

  std::chrono::nanoseconds leave_by_rate(std::uint32_t size_bytes, std::chrono::nanoseconds now);
  std::chrono::nanoseconds leave_by_trace(std::uint32_t size_bytes, std::chrono::nanoseconds now);
  bool is_off(std::chrono::nanoseconds time) const;

  LinkSettings settings_;
  LossProcess loss_;
  RandomStream jitter_;
  std::uint64_t index_ = 0;
  std::vector<Sent> sent_;
  Exact wire_free_;
  std::chrono::nanoseconds last_leaves_{0};
  std::chrono::nanoseconds last_due_{0};
  std::map<std::uint64_t, std::uint32_t> used_bytes_;  // of the opportunities of a trace
};

}  // namespace reprise
