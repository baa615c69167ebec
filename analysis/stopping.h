#pragma once

// Repeated looks at the loads as they arrive, without more false alarms: alpha is divided among the
// looks (Lan and DeMets, 1983). Pure.

#include <cstddef>
#include <span>
#include <vector>

namespace reprise {

inline constexpr std::size_t kLooksMax = 50;

/// The two-sided level for the test at each look, so that the probability of any false alarm is at
/// most `alpha` (0 < alpha < 1). `information` is the share of all loads at each look, ascending,
/// the last at most 1; at most kLooksMax looks. `spends_all`: the last look has all of alpha that
/// is left, whatever its share; what ended the looks must be the same with A and B exchanged.
///
/// Spends alpha ln(1 + (e - 1) t) by the share t, as Pocock does: the looks have nearly the same
/// level. O'Brien and Fleming's would keep nearly all for the last look; but a load takes seconds,
/// and the effects that a gate looks for are large against the noise of a replay, so an early look
/// decides.
std::vector<double> look_levels(std::span<const double> information, double alpha,
                                bool spends_all = false);

/// The level of a second and last look, which has what is left of `alpha` after a first one at
/// `first_level`, below it. `share` is the first look's part of the information (0 < share): from 1
/// on nothing is new, and the level is `alpha`. The first level must not depend on what is
/// compared, and the share not on how A and B differ.
double last_level(double first_level, double share, double alpha);

}  // namespace reprise
