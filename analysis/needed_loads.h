#pragma once

// How many loads a gate will need, from what is known of the noise. Pure.

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/gate.h"

namespace reprise {

/// What the loads of one page under the same conditions vary by.
struct MetricSpread {
  std::size_t metric = 0;  ///< index into kMetrics
  std::size_t loads = 0;
  double median = 0;
  double deviation = 0;  ///< standard deviation
  /// Loads a side that the links of one seed get, which lose the same packets and are compared with
  /// each other alone: `deviation` is the one among them. None: all loads are compared.
  std::size_t loads_of_a_seed = 0;
};

/// Of each metric of `options` (all, if it names none) that has a value in `group`. The others are
/// skipped: MetricSpread::metric says which one it is.
std::vector<MetricSpread> spreads_of(const LoadGroup& group, const CompareOptions& options);

/// Loads a side until four of five gates call a true shift of `effect` different: the first look at
/// which the rank test finds it (normal approximation; Noether, 1987) and the estimate reaches the
/// least effect. None: not within GateOptions::most_runs. `metrics` is how many are judged
/// together.
std::optional<std::size_t> needed_loads(const MetricSpread& spread, double effect,
                                        std::size_t metrics, const GateOptions& options);

}  // namespace reprise
