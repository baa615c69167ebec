#include "analysis/shift.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "analysis/normal.h"
#include "analysis/rank_test.h"

namespace reprise {
namespace {

/// Those of several samples together.
class AllDifferences {
 public:
  explicit AllDifferences(std::span<const PairDifferences> samples) : samples_(samples) {}

  std::uint64_t count() const {
    return sum_of([](const PairDifferences& each) { return each.count(); });
  }

  /// The difference at `position`, from 0, in ascending order: found by bisection over all doubles.
  double at(std::uint64_t position) const {
    auto const least =
        std::ranges::min_element(samples_, {}, &PairDifferences::smallest)->smallest();
    auto const most = std::ranges::max_element(samples_, {}, &PairDifferences::largest)->largest();
    std::int64_t low = order_of(least);
    std::int64_t high = order_of(most);
    while (low < high) {
      std::int64_t const middle = std::midpoint(low, high);
      if (at_most(double_of(middle)) > position) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return double_of(low) + 0.0;  // 0 for -0, which comes first in that order
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

  template <class Of>
  std::uint64_t sum_of(const Of& of) const {
    std::uint64_t sum = 0;
    for (const PairDifferences& each : samples_) sum += of(each);
    return sum;
  }

  std::uint64_t at_most(double limit) const {
    return sum_of([limit](const PairDifferences& each) { return each.at_most(limit); });
  }

  std::span<const PairDifferences> samples_;
};

}  // namespace

PairDifferences::PairDifferences(std::span<const double> a, std::span<const double> b)
    : a_(a.begin(), a.end()), b_(b.begin(), b.end()) {
  if (a.empty() || b.empty()) std::abort();
  std::ranges::sort(a_);
  std::ranges::sort(b_);
}

std::uint64_t PairDifferences::at_most(double limit) const {
  std::uint64_t count = 0;
  std::size_t below = 0;
  for (double const a : a_) {
    while (below < b_.size() && b_[below] - a <= limit) ++below;
    count += below;
  }
  return count;
}

Shift shift_of(std::span<const PairDifferences> samples, std::uint64_t outside) {
  if (samples.empty()) std::abort();
  AllDifferences const differences(samples);
  auto const count = differences.count();
  Shift shift{.estimate = std::midpoint(differences.at((count - 1) / 2), differences.at(count / 2)),
              .low = -std::numeric_limits<double>::infinity(),
              .high = std::numeric_limits<double>::infinity()};
  if (outside > 0) {
    shift.low = differences.at(outside - 1);
    shift.high = differences.at(count - outside);
  }
  return shift;
}

std::uint64_t critical_count(std::span<const double> probabilities, double tail) {
  std::uint64_t count = 0;
  for (double below = 0; count < probabilities.size(); ++count) {
    below += probabilities[count];
    if (below > tail) break;
  }
  return count;
}

std::uint64_t critical_count(std::uint64_t pairs, double variance, double tail) {
  double const count =
      static_cast<double>(pairs) / 2 + 0.5 - normal_upper_quantile(tail) * std::sqrt(variance);
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

Shift shift_between(std::span<const double> a, std::span<const double> b, double alpha) {
  if (!(alpha > 0 && alpha < 1)) std::abort();
  PairDifferences const differences(a, b);
  auto const outside =
      a.size() + b.size() <= kExactTotalMax
          ? critical_count(u_distribution(a.size(), b.size()), alpha / 2)
          : critical_count(differences.count(), u_variance(a.size(), b.size()), alpha / 2);
  return shift_of({&differences, 1}, outside);
}

}  // namespace reprise
