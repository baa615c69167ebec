#include "tools/predict/prediction_report.h"

#include <boost/json.hpp>
#include <cmath>

#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"

namespace reprise {
namespace {

namespace json = boost::json;

/// The distances of as many loads drawn from the same ones are medians of so many.
constexpr std::size_t kFloorDraws = 200;
/// Below this, in us, times are equal: what a browser reports is not finer.
constexpr double kEqualUs = 50;

std::string title_of(double quantile) {
  return quantile == .5 ? "median" : formatted("p%.10g", quantile * 100);
}

std::string amount_text(double saving_us) {
  if (std::abs(saving_us) < kEqualUs) return "changes nothing";
  return formatted("%s %.1f ms", saving_us > 0 ? "saves" : "costs", std::abs(saving_us) / kUsPerMs);
}

/// The predictor that says that nothing changes, and the floor: the same distribution drawn again.
struct Beside {
  PredictionError ours, nothing;
  DistributionDistance floor;
};

Beside beside(const PredictedTimes& predicted, const std::vector<double>& measured) {
  return {.ours = prediction_error(predicted.observed_us, predicted.predicted_us, measured),
          .nothing = prediction_error(predicted.observed_us, predicted.observed_us, measured),
          .floor = distance_floor(measured, predicted.predicted_us.size(), measured.size(),
                                  kFloorDraws, 1)};
}

std::string distance_text(const DistributionDistance& distance) {
  return formatted("distance D %.2f, median %.2f, mean %.2f", distance.largest, distance.median,
                   distance.mean);
}

std::string error_text(const PredictionError& error) {
  auto text = formatted("%+.1f ms of the median", error.of_median / kUsPerMs);
  bool const is_measured = std::abs(error.measured_saving) >= kEqualUs;
  if (error.of_saving && is_measured)
    text += formatted(", %.0f %% of the saving", *error.of_saving * 100);
  return text + "; " + distance_text(error.distance);
}

std::string measured_text(const PredictedTimes& predicted, const std::vector<double>& measured_us,
                          std::string_view noun) {
  auto const [ours, nothing, floor] = beside(predicted, measured_us);
  return formatted("  measured %.1f ms (%s), ", ours.measured_median / kUsPerMs,
                   counted(measured_us.size(), noun).c_str()) +
         amount_text(ours.measured_saving) + "\n    error of the prediction  " + error_text(ours) +
         "\n    if nothing changed       " + error_text(nothing) + "\n    " +
         align_left("of the same " + std::string(noun) + "s", 25) + distance_text(floor) + "\n";
}

json::object distance_json(const DistributionDistance& distance) {
  return {{"largest", distance.largest}, {"median", distance.median}, {"mean", distance.mean}};
}

json::object error_json(const PredictionError& error) {
  return {{"of_median_ms", error.of_median / kUsPerMs},
          {"of_saving", error.of_saving ? json::value(*error.of_saving) : json::value()},
          {"distance", distance_json(error.distance)}};
}

json::object quantile_json(const PredictedQuantile& each) {
  auto const limit = [&each](double us) {
    return each.interval_reaches_level ? json::value(us / kUsPerMs) : json::value();
  };
  return {{"quantile", each.quantile},
          {"observed_ms", each.observed_us / kUsPerMs},
          {"predicted_ms", each.predicted_us / kUsPerMs},
          {"low_ms", limit(each.low_us)},
          {"high_ms", limit(each.high_us)},
          {"saving_ms", each.saving_us / kUsPerMs},
          {"saving_low_ms", limit(each.saving_low_us)},
          {"saving_high_ms", limit(each.saving_high_us)}};
}

json::array ms_of(const std::vector<double>& times_us) {
  json::array times;
  for (double const time : times_us) times.push_back(time / kUsPerMs);
  return times;
}

}  // namespace

std::string saving_text(const PredictedQuantile& quantile) {
  auto text = amount_text(quantile.saving_us);
  if (std::abs(quantile.saving_us) < kEqualUs || !quantile.interval_reaches_level) return text;
  double const sign = quantile.saving_us > 0 ? 1 : -1;
  auto const [low, high] =
      std::minmax({sign * quantile.saving_low_us, sign * quantile.saving_high_us});
  return text + formatted(" (%.1f to %.1f)", low / kUsPerMs, high / kUsPerMs);
}

std::string times_text(const PredictedTimes& times, const std::vector<double>& measured_us,
                       std::string_view noun) {
  std::string text;
  for (PredictedQuantile const& quantile : times.quantiles) {
    text += formatted("  %-6s  %.1f ms -> %.1f ms", title_of(quantile.quantile).c_str(),
                      quantile.observed_us / kUsPerMs, quantile.predicted_us / kUsPerMs);
    if (quantile.interval_reaches_level) {
      text += formatted(" (%.1f to %.1f)", quantile.low_us / kUsPerMs, quantile.high_us / kUsPerMs);
    }
    text += ", " + saving_text(quantile);
    if (!quantile.interval_reaches_level) {
      text += "; too few " + std::string(noun) + "s for a 95 % interval, which needs " +
              std::to_string(quantile.rows_needed);
    }
    text += "\n";
  }
  if (!measured_us.empty()) text += measured_text(times, measured_us, noun);
  return text;
}

json::object times_json(const PredictedTimes& times, const std::vector<double>& measured_us) {
  json::array quantiles;
  for (PredictedQuantile const& quantile : times.quantiles) {
    quantiles.push_back(quantile_json(quantile));
  }
  json::object out{{"quantiles", std::move(quantiles)},
                   {"observed_ms", ms_of(times.observed_us)},
                   {"predicted_ms", ms_of(times.predicted_us)}};
  if (measured_us.empty()) return out;
  auto const [ours, nothing, floor] = beside(times, measured_us);
  out["measured_ms"] = ms_of(measured_us);
  out["measured"] = {{"median_ms", ours.measured_median / kUsPerMs},
                     {"saving_ms", ours.measured_saving / kUsPerMs},
                     {"error", error_json(ours)},
                     {"error_if_nothing_changed", error_json(nothing)},
                     {"distance_of_the_same_loads", distance_json(floor)}};
  return out;
}

std::string prediction_text(const std::vector<PredictedMilestone>& milestones) {
  std::string text;
  for (PredictedMilestone const& each : milestones) {
    auto const name = kMilestoneNames[static_cast<std::size_t>(each.predicted.milestone)];
    text += std::string(name) + "\n" + times_text(each.predicted, each.measured_us, "load");
  }
  return text;
}

json::array prediction_json(const std::vector<PredictedMilestone>& milestones) {
  json::array all;
  for (PredictedMilestone const& each : milestones) {
    json::object out{
        {"milestone", kMilestoneNames[static_cast<std::size_t>(each.predicted.milestone)]}};
    for (auto& [name, value] : times_json(each.predicted, each.measured_us)) {
      out[name] = std::move(value);
    }
    all.push_back(std::move(out));
  }
  return all;
}

}  // namespace reprise
