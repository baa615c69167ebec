#pragma once

// Is B larger than A? Uses ranks only, so that an outlier counts no more than any other load, and
// makes no assumption about the shape of the distributions. Pure.
//
// Sources: Mann and Whitney (1947); for ties Streitberg and Roehmel's shift algorithm (1986) and
// the normal approximation with the variance corrected for ties; Cliff (1993).

#include <cstddef>
#include <span>
#include <vector>

namespace reprise {

/// With at most this many values in both samples together p is exact, also with ties.
inline constexpr std::size_t kExactTotalMax = 50;

struct RankTest {
  double u = 0;             ///< pairs in which B is larger, equal ones count half
  double cliffs_delta = 0;  ///< -1 (every B is below every A) to 1
  double p = 1;             ///< two-sided
  bool exact = true;        ///< otherwise the normal approximation with continuity correction
  double tie_term = 0;      ///< the sum of t^3 - t over groups of t equal values
};

/// The Mann-Whitney test. An empty sample, or only equal values, give p = 1. Values must be finite.
RankTest rank_test(std::span<const double> a, std::span<const double> b);

/// P(U = 0), P(U = 1), ..., P(U = m n) for samples of m and n values of one distribution without
/// ties. m + n is at most kExactTotalMax, which keeps every count below 2^53.
std::vector<double> u_distribution(std::size_t m, std::size_t n);

/// P(2 U = 0), P(2 U = 1), ..., P(2 U = 2 m n) if each division of these values, with their ties,
/// into samples of m and n values is as probable. Neither is empty; together they are at most
/// kExactTotalMax.
std::vector<double> doubled_u_distribution(std::span<const double> a, std::span<const double> b);

/// The variance of U for samples of m and n values (both at least 1) of one distribution.
double u_variance(std::size_t m, std::size_t n, double tie_term = 0);

}  // namespace reprise
