#pragma once

// Looking at the loads while they come in, without paying for it in false alarms: the alpha that a
// look may use is given out over the looks (Lan and DeMets, 1983). Pure.

#include <cstddef>
#include <span>
#include <vector>

namespace reprise {

inline constexpr std::size_t kLooksMax = 50;

/// The two-sided level at which each look may test, so that the chance that any of them finds what
/// is not there is at most `alpha` (0 < alpha < 1). `information` is the share of all loads that
/// each look sees, ascending, the last at most 1; at most kLooksMax.
///
/// Spends alpha ln(1 + (e - 1) t) by the share t, as Pocock does: the looks have nearly the same
/// level. O'Brien and Fleming's would keep nearly all for the last look; but a load takes seconds,
/// and what a gate is for is large against the noise of a replay, so that an early look decides.
std::vector<double> look_levels(std::span<const double> information, double alpha);

}  // namespace reprise
