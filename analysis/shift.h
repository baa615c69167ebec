#pragma once

// How much larger is B than A? The Hodges-Lehmann estimate and the confidence interval that inverts
// the Mann-Whitney test (Hodges and Lehmann, 1963). Pure; O(n log n) time, O(n) memory.

#include <cstdint>
#include <span>
#include <vector>

namespace reprise {

struct Shift {
  double estimate = 0;  ///< the median of all differences b - a
  double low = 0;       ///< of the interval; -infinity if there are too few values for the level
  double high = 0;
};

/// The interval contains the shift with a probability of at least 1 - `alpha` (0 < alpha < 1),
/// exactly for up to kExactTotalMax values in both together; ties and constants make it
/// conservative. Neither sample may be empty; values must be finite.
Shift shift_between(std::span<const double> a, std::span<const double> b, double alpha);

/// All differences b - a of two samples, without storing them. Neither may be empty; values must be
/// finite.
class PairDifferences {
 public:
  PairDifferences(std::span<const double> a, std::span<const double> b);

  std::uint64_t count() const { return static_cast<std::uint64_t>(a_.size()) * b_.size(); }
  double smallest() const { return b_.front() - a_.back(); }
  double largest() const { return b_.back() - a_.front(); }
  /// How many are at most `limit`; O(n).
  std::uint64_t at_most(double limit) const;

 private:
  std::vector<double> a_, b_;  // ascending
};

/// The shift of several samples together, at least one: the interval has all but the `outside` - 1
/// smallest and as many of the largest differences (at most half of them). 0: there is no interval.
Shift shift_of(std::span<const PairDifferences> samples, std::uint64_t outside);

/// For shift_of(): the largest c with P(U < c) <= `tail`, by the probabilities of U = 0, 1, ...
std::uint64_t critical_count(std::span<const double> probabilities, double tail);
/// The same by the normal approximation, for a U of so many pairs.
std::uint64_t critical_count(std::uint64_t pairs, double variance, double tail);

}  // namespace reprise
