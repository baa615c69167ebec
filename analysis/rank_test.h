#pragma once

// Is B larger than A? By ranks alone, so that an outlier counts no more than any other load, and
// nothing is assumed of the shape of the distributions. Pure.
//
// Sources: Mann and Whitney (1947); for ties Streitberg and Roehmel's shift algorithm (1986) and
// the normal approximation with the variance corrected for ties; Cliff (1993).

#include <cstddef>
#include <span>
#include <vector>

namespace reprise {

/// Up to this many values in both samples together p is exact, given the ties that there are.
inline constexpr std::size_t kExactTotalMax = 50;

struct RankTest {
  double u = 0;             ///< pairs in which B is the larger, equal ones by half
  double cliffs_delta = 0;  ///< -1 (every B is below every A) to 1
  double p = 1;             ///< two-sided
  bool exact = true;        ///< else by the normal approximation with continuity correction
};

/// The Mann-Whitney test. An empty sample, or samples in which all values are the same, give p = 1.
/// Values must be finite.
RankTest rank_test(std::span<const double> a, std::span<const double> b);

/// P(U = 0), P(U = 1), ..., P(U = m n) for samples of m and n values of one distribution without
/// ties. m + n is at most kExactTotalMax, which keeps every count below 2^53.
std::vector<double> u_distribution(std::size_t m, std::size_t n);

}  // namespace reprise
