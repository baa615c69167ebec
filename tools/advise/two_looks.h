#pragma once

// Changes are looked at twice: after the loads that the budget is spent on first, and, those that
// are undecided then, after the loads that they get of the time that was withheld for combinations
// and is not needed for them. Pure.

#include <cstddef>
#include <span>
#include <vector>

namespace reprise {

/// The loads that count, of the page as recorded and of a change.
struct LoadsBeside {
  std::size_t recorded = 0;
  std::size_t changed = 0;
};

/// The level of a change's test at the first look, if both looks together have `alpha` (0 < alpha <
/// 1). `share` of the time for measuring has passed then, by the plan; 1: there is one look.
double first_look_level(double alpha, double share);

/// That at the second look, by what the loads of a change are at both. Without more loads it is
/// `alpha`. `share`: as above, below 1.
double last_look_level(double alpha, double share, const LoadsBeside& first,
                       const LoadsBeside& last);

/// How many more loads each side gets. It has been loaded `made` times; 0: it gets none. All others
/// get the same multiple of what they have, as far as `paid` more loads go in all, and no side more
/// than `most`: a machine that is slower by then is so for the same part of each side's loads. None
/// at all if that is less than one load of a side.
std::vector<std::size_t> further_loads(std::span<const std::size_t> made, double paid,
                                       std::size_t most);

}  // namespace reprise
