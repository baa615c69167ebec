#pragma once

// How much larger is B than A? The Hodges-Lehmann estimate and the confidence interval that inverts
// the Mann-Whitney test (Hodges and Lehmann, 1963). Pure; O(n log n) time, O(n) memory.

#include <span>

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

}  // namespace reprise
