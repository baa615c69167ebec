#include "analysis/shift.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include "analysis/normal.h"
#include "analysis/rank_test.h"

namespace reprise {
namespace {

/// All differences b - a of two samples, without storing them.
class Differences {
 public:
  Differences(std::span<const double> a, std::span<const double> b)
      : a_(a.begin(), a.end()), b_(b.begin(), b.end()) {
    std::ranges::sort(a_);
    std::ranges::sort(b_);
  }

  std::uint64_t count() const { return static_cast<std::uint64_t>(a_.size()) * b_.size(); }

  /// The difference at `position`, from 0, in ascending order: found by bisection over all doubles.
  double at(std::uint64_t position) const {
    std::int64_t low = order_of(b_.front() - a_.back());
    std::int64_t high = order_of(b_.back() - a_.front());
    while (low < high) {
      std::int64_t const middle = std::midpoint(low, high);
      if (at_most(double_of(middle)) > position) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return double_of(low);
  }

 private:
  /// Maps doubles to integers in the same order, and back.
  static std::int64_t order_of(double value) {
    return mirrored(std::bit_cast<std::int64_t>(value));
  }
  static double double_of(std::int64_t order) { return std::bit_cast<double>(mirrored(order)); }
  static std::int64_t mirrored(std::int64_t bits) {
    return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
  }

  std::uint64_t at_most(double limit) const {
    std::uint64_t count = 0;
    std::size_t below = 0;
    for (double const a : a_) {
      while (below < b_.size() && b_[below] - a <= limit) ++below;
      count += below;
    }
    return count;
  }

  std::vector<double> a_, b_;
};

/// The number of differences outside the interval at each end, plus one: the largest c with P(U <
/// c) <= `tail`.
std::uint64_t critical_count(std::size_t m, std::size_t n, double tail) {
  if (m + n <= kExactTotalMax) {
    auto const probabilities = u_distribution(m, n);
    std::uint64_t count = 0;
    for (double below = 0; count < probabilities.size(); ++count) {
      below += probabilities[count];
      if (below > tail) break;
    }
    return count;
  }
  auto const pairs = static_cast<double>(m) * static_cast<double>(n);
  double const deviation = std::sqrt(pairs * static_cast<double>(m + n + 1) / 12);
  double const count = pairs / 2 + 0.5 - normal_upper_quantile(tail) * deviation;
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

}  // namespace

Shift shift_between(std::span<const double> a, std::span<const double> b, double alpha) {
  if (a.empty() || b.empty() || !(alpha > 0 && alpha < 1)) std::abort();
  Differences const differences(a, b);
  auto const count = differences.count();
  Shift shift;
  shift.estimate = std::midpoint(differences.at((count - 1) / 2), differences.at(count / 2));
  auto const outside = critical_count(a.size(), b.size(), alpha / 2);
  if (outside == 0) {
    shift.low = -std::numeric_limits<double>::infinity();
    shift.high = std::numeric_limits<double>::infinity();
  } else {
    shift.low = differences.at(outside - 1);
    shift.high = differences.at(count - outside);
  }
  return shift;
}

}  // namespace reprise
