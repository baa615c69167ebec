#pragma once

// The even share of calls that are not inside each other, fast: the sums by kind are those of
// share_evenly() (analysis/contribution/share.h) to the microsecond. Pure.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/calls/call.h"

namespace reprise {

/// In us since the start of the view, of any sign and order.
struct FlatCall {
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
  CallLayer layer{};
  std::uint8_t kind = 0;
};

/// Keeps its buffers. Not thread-safe.
class FlatShares {
 public:
  static constexpr std::size_t kCallsMax = 1 << 20;

  /// Adds the share of each call to the place of its kind in `by_kind`, in us; returns the gap.
  /// Together they are the window. At most kCallsMax calls, kinds within `by_kind`. O(n) for calls
  /// that are nearly in the order of their starts, else O(n log n).
  std::int64_t share(std::span<const FlatCall> calls, std::int64_t window_us,
                     std::span<std::int64_t> by_kind);

 private:
  void sort_edges(std::span<const FlatCall> calls, std::int64_t window_us);
  /// Returns the gap.
  std::int64_t sweep(std::span<const FlatCall> calls, std::int64_t window_us);
  void round_up(std::span<const FlatCall> calls, std::size_t left,
                std::span<const std::uint32_t> remainders, std::span<std::int64_t> by_kind);

  /// Time and place of a call, by time.
  std::vector<std::uint64_t> starts_, ends_, spare_;
  std::vector<std::int64_t> earned_;  ///< of each call that is not empty, in units of 2^-20 us
  std::vector<std::uint32_t> tied_;
};

}  // namespace reprise
