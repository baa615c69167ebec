#include "analysis/normal.h"

#include <cmath>
#include <numbers>

namespace reprise {

double normal_upper(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

double normal_upper_quantile(double p) {
  double low = 0;
  double high = 39;  // P(Z > 39) is below the smallest double
  for (int halving = 0; halving < 60; ++halving) {
    double const middle = (low + high) / 2;
    (normal_upper(middle) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace reprise
