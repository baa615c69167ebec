#pragma once

// The order of measurements: rounds that each contain every arm, so that what drifts on the machine
// changes all arms alike, and the runs that they are made in. Pure.

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

/// One measurement of an arm, in a run. All measurements of a run meet the same chance: the same
/// losses on the link, for example.
struct MeasuringStep {
  std::size_t arm = 0;
  std::size_t run = 0;

  bool operator==(const MeasuringStep&) const = default;
};

/// The measurements of a round, in its order. The first one of each arm is in `first_run`, each
/// further one in the next run: an arm that had a run twice would meet the same chance twice. The
/// next round begins after the highest run.
std::vector<MeasuringStep> steps_of(const MeasuringRound& round, std::size_t first_run);

}  // namespace reprise
