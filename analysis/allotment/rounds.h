#pragma once

// The order of measurements: rounds that each contain every arm. A round that was not finished is
// dropped as a whole, and what is left is still balanced. Pure.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reprise {

/// Arms by their place, in the order of measuring.
using MeasuringRound = std::vector<std::size_t>;

/// As many rounds as the arm with the fewest measurements has; each arm occurs in all of them, and
/// its occurrences in two of them differ by at most one. Within a round the order is random by
/// `seed`. Arms without measurements occur nowhere.
std::vector<MeasuringRound> rounds_of(std::span<const std::size_t> measurements,
                                      std::uint64_t seed);

}  // namespace reprise
