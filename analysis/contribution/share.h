#pragma once

// The even share: the time from 0 to the window's end is cut at every start and end of a call, and
// each piece is shared evenly among the calls that are active in it. For intervals this is the
// Shapley value of the game whose worth is the length of their union. Of calls inside each other
// the deepest active ones count; of layers, the first with an active call (call.h). A piece without
// an active call is a gap. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/calls/call.h"

namespace reprise {

/// In us. The sum of `calls` and `gap_us` is the window.
struct Shares {
  std::vector<std::int64_t> calls;  ///< of each call, without those inside it
  std::int64_t gap_us = 0;
};

/// `tree` is normalized. Exact up to the rounding to whole us, by largest remainder; equal
/// remainders go by start, end and place in the tree. O(n log n).
Shares share_evenly(const CallTree& tree);

/// Rounds shares in units of 2^-20 us to whole us that sum to `total_us`: down, then the largest
/// remainders up, of equal ones the first. The sum of `shares` is at most `total_us`.
std::vector<std::int64_t> round_shares(std::span<const std::int64_t> shares, std::int64_t total_us);
inline constexpr int kShareBits = 20;

}  // namespace reprise
