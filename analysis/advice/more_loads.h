#pragma once

// How many more loads would tell whether a change helps. Pure.

#include <chrono>
#include <optional>

#include "analysis/verdict.h"

namespace reprise {

/// So many times as many loads should decide about a change that seems to make a metric smaller:
/// the interval of the shift narrows with the square root of the loads. Nothing if it is decided,
/// seems to save less than the minimum effect, or needs more than 20 times as many, of which little
/// can be said.
std::optional<double> times_the_loads_to_decide(const Finding& finding);

/// A budget with which loads can be made `times` as long as for `measuring`, the part of `budget`
/// in which they were. What else the budget was spent on takes as long as before.
std::chrono::minutes budget_for_loads(std::chrono::seconds budget,
                                      std::chrono::duration<double> measuring, double times);

}  // namespace reprise
