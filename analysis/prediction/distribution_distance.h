#pragma once

// How far apart two distributions are, by their samples. Pure.

#include <cstddef>
#include <cstdint>
#include <span>

namespace reprise {

/// Vertical distances of the two empirical distribution functions, from 0 to 1, at the pooled
/// sample points.
struct DistributionDistance {
  double largest = 0;  ///< Kolmogorov-Smirnov D
  double median = 0;
  double mean = 0;
};

/// Neither may be empty; values must be finite.
DistributionDistance distance_of(std::span<const double> a, std::span<const double> b);

/// What the distance would be if both were the same: the medians over `draws` of the distances of
/// `a_count` and `b_count` values drawn from `values` (with replacement), by `seed`. All counts are
/// above 0.
DistributionDistance distance_floor(std::span<const double> values, std::size_t a_count,
                                    std::size_t b_count, std::size_t draws, std::uint64_t seed);

}  // namespace reprise
