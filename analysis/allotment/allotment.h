#pragma once

// The allotment of a budget of time over arms that are measured again and again (README.md). Pure.

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace reprise {

/// One thing that is measured, a page under one configuration for example.
struct AllotmentArm {
  double deviation = 0;  ///< standard deviation of one measurement, in any unit; from 0
  double cost = 1;       ///< of one measurement, in the unit of the budget; above 0
  /// How many times as often it is measured as an arm like it with weight 1; above 0. Its standard
  /// error counts weight^1.5 times, of which this is the consequence.
  double weight = 1;
};

/// Of a baseline that `candidates` arms are compared with: their square root, at least 1.
double shared_baseline_weight(std::size_t candidates);

/// More measurements in all are not allotted, whatever the budget.
inline constexpr std::size_t kAllottedMax = 1'000'000;

/// How often each arm is measured, at least `least` times. What is left of the budget pays for no
/// further measurement of an arm that varies. Arms that do not vary get `least`. Takes time in
/// proportion to arms times measurements. Errors: a sentence, if `arms` is empty, a value is out of
/// its range, `least` is 0, or the budget does not pay for `least` of each.
std::expected<std::vector<std::size_t>, std::string> allot(std::span<const AllotmentArm> arms,
                                                           double budget, std::size_t least);

/// What so many measurements of each arm cost.
double cost_of(std::span<const AllotmentArm> arms, std::span<const std::size_t> measurements);

/// Of all arms, each by its weight^1.5. Infinite if an arm that varies is never measured.
double sum_of_standard_errors(std::span<const AllotmentArm> arms,
                              std::span<const std::size_t> measurements);

/// The same sum if each arm is measured as often as the others, and this takes the budget: a real
/// number of times, or the rest of the last round would count against it. `arms` are in the ranges
/// above, at least one; `budget` is above 0.
double standard_errors_of_even_split(std::span<const AllotmentArm> arms, double budget);

/// What an allotment gains.
struct AllotmentGain {
  double allotted = 0;  ///< the sum of standard errors of allot()
  double even = 0;      ///< standard_errors_of_even_split()
};

}  // namespace reprise
