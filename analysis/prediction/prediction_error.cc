#include "analysis/prediction/prediction_error.h"

#include <cmath>
#include <vector>

#include "analysis/prediction/prediction.h"

namespace reprise {

PredictionError prediction_error(std::span<const double> observed,
                                 std::span<const double> predicted,
                                 std::span<const double> measured) {
  auto const median_of = [](std::span<const double> values) {
    return quantile_of(std::vector(values.begin(), values.end()), .5);
  };
  auto const before = median_of(observed);
  PredictionError error{.measured_median = median_of(measured),
                        .distance = distance_of(predicted, measured)};
  error.measured_saving = before - error.measured_median;
  error.of_median = median_of(predicted) - error.measured_median;
  if (error.measured_saving != 0) {
    error.of_saving = std::abs(error.of_median / error.measured_saving);
  }
  return error;
}

}  // namespace reprise
