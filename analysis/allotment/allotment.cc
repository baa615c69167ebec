#include "analysis/allotment/allotment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace reprise {
namespace {

using Measurements = std::vector<std::size_t>;

bool is_above_0(double value) {
  return std::isfinite(value) && value > 0;
}

/// Empty if the question can be answered.
std::string fault_of(std::span<const AllotmentArm> arms, double budget, std::size_t least) {
  if (arms.empty()) return "there is nothing to measure";
  if (least == 0) return "each arm needs at least one measurement";
  if (least > kAllottedMax / arms.size()) return "more than a million measurements";
  for (std::size_t i = 0; i < arms.size(); ++i) {
    auto const arm = "arm " + std::to_string(i + 1);
    if (!std::isfinite(arms[i].deviation) || arms[i].deviation < 0) {
      return "the standard deviation of " + arm + " must be a number from 0";
    }
    if (!is_above_0(arms[i].cost)) return "the cost of " + arm + " must be a number above 0";
    if (!is_above_0(arms[i].weight)) return "the weight of " + arm + " must be a number above 0";
  }
  std::vector<std::size_t> const minimum(arms.size(), least);
  if (std::isfinite(budget) && cost_of(arms, minimum) <= budget) return {};
  return "the budget must pay for at least " + std::to_string(least) + " of each, which cost " +
         std::to_string(cost_of(arms, minimum));
}

/// What its standard error is multiplied by.
double importance(const AllotmentArm& arm) {
  return arm.weight * std::sqrt(arm.weight);
}

/// Of a real number of measurements.
double standard_error(const AllotmentArm& arm, double measurements) {
  if (arm.deviation == 0) return 0;
  if (measurements == 0) return std::numeric_limits<double>::infinity();
  return importance(arm) * arm.deviation / std::sqrt(measurements);
}

double standard_error(const AllotmentArm& arm, std::size_t measurements) {
  return standard_error(arm, static_cast<double>(measurements));
}

/// By which one more measurement lowers the sum, per unit of the budget.
double gain(const AllotmentArm& arm, std::size_t measurements) {
  return (standard_error(arm, measurements) - standard_error(arm, measurements + 1)) / arm.cost;
}

/// From the minimum upwards by the greatest gain, then by exchanges.
class Rounding {
 public:
  Rounding(std::span<const AllotmentArm> arms, double budget, std::size_t least)
      : arms_(arms), budget_(budget), least_(least) {}

  Measurements run() const {
    Measurements best(arms_.size(), least_);
    fill(best);
    auto sum = sum_of_standard_errors(arms_, best);
    for (int exchanges = 0; exchanges < kExchangesMax; ++exchanges) {
      auto const before = sum;
      for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
        for (auto const& other : {with_more(best, arm), with_less(best, arm)}) {
          auto const other_sum = sum_of_standard_errors(arms_, other);
          if (other_sum >= sum) continue;
          best = other;
          sum = other_sum;
        }
      }
      if (sum >= before) break;
    }
    return best;
  }

 private:
  /// Far more than occur: each lowers the sum.
  static constexpr int kExchangesMax = 1000;

  /// Adds the cost up afresh, or its rounding could exceed the budget.
  bool fits(const Measurements& measurements) const {
    return cost_of(arms_, measurements) <= budget_ &&
           std::accumulate(measurements.begin(), measurements.end(), std::size_t{0}) <=
               kAllottedMax;
  }

  /// Spends the rest of the budget on the greatest gains by their cost.
  void fill(Measurements& measurements) const {
    for (;;) {
      std::size_t best = arms_.size();
      for (std::size_t i = 0; i < arms_.size(); ++i) {
        if (arms_[i].deviation == 0) continue;
        if (best < arms_.size() &&
            gain(arms_[i], measurements[i]) <= gain(arms_[best], measurements[best])) {
          continue;
        }
        ++measurements[i];
        bool const is_paid = fits(measurements);
        --measurements[i];
        if (is_paid) best = i;
      }
      if (best == arms_.size()) return;
      ++measurements[best];
    }
  }

  /// One more of `arm`, for those of others that are missed least. Over the budget, it is as it
  /// was.
  Measurements with_more(Measurements measurements, std::size_t arm) const {
    auto const before = measurements;
    ++measurements[arm];
    while (!fits(measurements)) {
      std::size_t least_missed = arms_.size();
      for (std::size_t i = 0; i < arms_.size(); ++i) {
        if (i == arm || measurements[i] <= least_) continue;
        if (least_missed == arms_.size() ||
            gain(arms_[i], measurements[i] - 1) <
                gain(arms_[least_missed], measurements[least_missed] - 1)) {
          least_missed = i;
        }
      }
      if (least_missed == arms_.size()) return before;
      --measurements[least_missed];
    }
    fill(measurements);
    return measurements;
  }

  /// One less of `arm`, and what it cost for others.
  Measurements with_less(Measurements measurements, std::size_t arm) const {
    if (measurements[arm] <= least_) return measurements;
    --measurements[arm];
    fill(measurements);
    return measurements;
  }

  std::span<const AllotmentArm> arms_;
  double budget_;
  std::size_t least_;
};

}  // namespace

double shared_baseline_weight(std::size_t candidates) {
  return std::sqrt(static_cast<double>(std::max<std::size_t>(candidates, 1)));
}

std::expected<std::vector<std::size_t>, std::string> allot(std::span<const AllotmentArm> arms,
                                                           double budget, std::size_t least) {
  if (auto fault = fault_of(arms, budget, least); !fault.empty()) {
    return std::unexpected(std::move(fault));
  }
  return Rounding(arms, budget, least).run();
}

double cost_of(std::span<const AllotmentArm> arms, std::span<const std::size_t> measurements) {
  double sum = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    sum += arms[i].cost * static_cast<double>(measurements[i]);
  }
  return sum;
}

double sum_of_standard_errors(std::span<const AllotmentArm> arms,
                              std::span<const std::size_t> measurements) {
  double sum = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) sum += standard_error(arms[i], measurements[i]);
  return sum;
}

double standard_errors_of_even_split(std::span<const AllotmentArm> arms, double budget) {
  std::vector<std::size_t> const once(arms.size(), 1);
  double const rounds = budget / cost_of(arms, once);
  double sum = 0;
  for (AllotmentArm const& arm : arms) sum += standard_error(arm, rounds);
  return sum;
}

}  // namespace reprise
