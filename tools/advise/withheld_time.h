#pragma once

// How much of a budget the changes leave for their combination. Pure.

#include <cstddef>

namespace reprise {

/// The part of `seconds_left` that is kept for the combination of `may_help` changes: a step of
/// `seconds_of_step` for each of them but the first, at most half of what is left. 0 if that is too
/// short for a step, or if fewer than two changes may help.
double seconds_withheld(std::size_t may_help, double seconds_of_step, double seconds_left);

/// What the combination of so many changes takes, which were shown to help: a step for each but the
/// first.
double seconds_of_steps(std::size_t helping, double seconds_of_step);

}  // namespace reprise
