#pragma once

// A predicted distribution beside the measured one. Pure.

#include <optional>
#include <span>

#include "analysis/prediction/distribution_distance.h"

namespace reprise {

/// Times in any unit, the same for all.
struct PredictionError {
  double measured_median = 0;
  double measured_saving = 0;  ///< of the medians; below 0: it costs
  double of_median = 0;        ///< predicted - measured
  /// |predicted - measured saving| as a part of the measured one; nothing if that is 0.
  std::optional<double> of_saving;
  DistributionDistance distance;
};

/// The medians are those of quantile_of() (prediction.h). None of the values may be empty; they
/// must be finite. With `observed` as `predicted`: of the predictor that says that nothing changes.
PredictionError prediction_error(std::span<const double> observed,
                                 std::span<const double> predicted,
                                 std::span<const double> measured);

}  // namespace reprise
