#pragma once

// Is B larger than A, and by how much, when the values come from several blocks: machines, or links
// that lost the same packets? Each value is compared with those of the same block alone, so that
// what blocks differ by is no difference between A and B. Pure.
//
// The sum of the blocks' Mann-Whitney statistics (a stratified rank test: van Elteren, 1960, with
// equal weights for all pairs), and the Hodges-Lehmann estimate and interval that invert it. With
// one block both are those of rank_test.h and shift.h.

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/rank_test.h"
#include "analysis/shift.h"

namespace reprise {

/// The values of one block.
struct Block {
  std::vector<double> a, b;
};

/// Without a block that has values of both, p = 1. Exact, also with ties, up to kExactTotalMax
/// values in each block and 4,000 pairs in all.
RankTest blocked_rank_test(std::span<const Block> blocks);

/// At least one block must have values of both. Takes no memory for pairs: O(n).
Shift blocked_shift(std::span<const Block> blocks, double alpha);

/// Pairs of an A and a B of the same block.
std::size_t pairs_in(std::span<const Block> blocks);

/// Loads a side of the largest block that has both sides; 0 if there is no such block.
std::size_t loads_of_largest(std::span<const Block> blocks);

/// The smallest two-sided p of the exact rank test of `loads` a side, in blocks of `block_loads` a
/// side and a smaller one of the remaining loads; 0: without blocks.
double smallest_p(std::size_t loads, std::size_t block_loads = 0);

}  // namespace reprise
