#pragma once

// The standard normal distribution. Pure.

namespace reprise {

/// P(Z > z).
double normal_upper(double z);

/// The z with P(Z > z) = `p`, for 0 < p <= 0.5; accurate to 1e-12.
double normal_upper_quantile(double p);

}  // namespace reprise
