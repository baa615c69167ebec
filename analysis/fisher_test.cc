#include "analysis/fisher_test.h"

#include <algorithm>
#include <boost/math/distributions/hypergeometric.hpp>

namespace reprise {

double fisher_p(Failures a, Failures b) {
  auto const failed = a.failed + b.failed;
  auto const total = a.total + b.total;
  if (failed == 0 || failed == total || a.total == 0 || b.total == 0) return 1;
  boost::math::hypergeometric_distribution<double> const of_a(failed, a.total, total);
  constexpr double kRounding = 1 + 1e-7;  // as in R and scipy
  auto const observed = boost::math::pdf(of_a, a.failed) * kRounding;
  double p = 0;
  auto const least = failed - std::min(failed, b.total);
  for (auto in_a = least; in_a <= std::min(failed, a.total); ++in_a) {
    auto const each = boost::math::pdf(of_a, in_a);
    if (each <= observed) p += each;
  }
  return std::min(p, 1.0);
}

}  // namespace reprise
