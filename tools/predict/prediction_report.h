#pragma once

// A prediction for people and for programs, with what was measured beside it.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/prediction/prediction.h"
#include "analysis/prediction/prediction_error.h"

namespace reprise {

/// A milestone with the times of the changed page, if it was measured; in us.
struct PredictedMilestone {
  MilestonePrediction predicted;
  std::vector<double> measured_us;
};

/// A line for each quantile, with its interval or how many loads it would need; then, unless
/// `measured_us` is empty, the errors beside those of the predictor that says that nothing changes.
/// `noun`: what was observed and measured, such as "load".
std::string times_text(const PredictedTimes& times, const std::vector<double>& measured_us,
                       std::string_view noun);
/// The same as JSON: `quantiles`, `observed_ms`, `predicted_ms`, `measured_ms`, `measured`.
boost::json::object times_json(const PredictedTimes& times, const std::vector<double>& measured_us);

/// "load event" and a line for each quantile; then, if it was measured, the errors beside those of
/// the predictor that says that nothing changes.
std::string prediction_text(const std::vector<PredictedMilestone>& milestones);

/// The `milestones` of schema `reprise-prediction/1` (analysis/prediction/README.md).
boost::json::array prediction_json(const std::vector<PredictedMilestone>& milestones);

/// "saves 120.3 ms (110.1 to 131.0)", "costs 20.1 ms (...)", "changes nothing". There is no
/// interval if it does not reach its level.
std::string saving_text(const PredictedQuantile& quantile);

}  // namespace reprise
