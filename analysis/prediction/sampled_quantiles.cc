#include "analysis/prediction/sampled_quantiles.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

namespace reprise {
namespace {

constexpr std::size_t kResamples = 400;
/// How often a 95 % interval may miss.
constexpr double kMisses = .05;
/// No measurement has more.
constexpr double kRowsMax = 1e9;
/// Half the width of a 95 % interval, in standard deviations.
constexpr double kDeviations = 1.96;
/// This close to a whole number, a quantile times a number of values is that number.
constexpr double kRounding = 1e-9;

using Sample = std::pair<double, std::size_t>;  // with its row

/// The first of so many sorted values that at least this share of them does not exceed.
std::size_t rank_of(double quantile, std::size_t count) {
  auto const rank = std::ceil(quantile * static_cast<double>(count) - kRounding);
  return static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(count))) - 1;
}

/// The two of so many sorted values that a quantile is midway between: the same one, unless just
/// this share of the values ends with the first.
std::pair<std::size_t, std::size_t> neighbours_of(double quantile, std::size_t count) {
  auto const low = rank_of(quantile, count);
  double const values_to_low = static_cast<double>(low) + 1;
  bool const ends_with_low =
      std::abs(quantile * static_cast<double>(count) - values_to_low) < kRounding;
  return {low, ends_with_low && low + 1 < count ? low + 1 : low};
}

/// The quantile of sorted values, each as often as its row counts.
double weighted(const std::vector<Sample>& values, const std::vector<std::size_t>& weights,
                double quantile) {
  std::size_t total = 0;
  for (auto const& [value, row] : values) total += weights[row];
  auto const [low, high] = neighbours_of(quantile, total);
  std::size_t sum = 0;
  std::optional<double> at_low;
  for (auto const& [value, row] : values) {
    sum += weights[row];
    if (!at_low && sum > low) at_low = value;
    if (sum > high) return std::midpoint(*at_low, value);
  }
  return values.back().first;
}

}  // namespace

std::size_t SampledQuantiles::add_row(double observed_us) {
  times_.observed_us.push_back(observed_us);
  return times_.observed_us.size() - 1;
}

bool SampledQuantiles::is_within(std::span<const double> quantiles, double bound) const {
  auto values = samples_;
  std::ranges::sort(values);
  auto const count = static_cast<double>(values.size());
  return std::ranges::all_of(quantiles, [&](double quantile) {
    double const middle = quantile * count;
    double const reach = kDeviations * std::sqrt(count * quantile * (1 - quantile));
    if (middle - reach < 0 || middle + reach > count - 1) return false;
    auto const [left, right] = neighbours_of(quantile, values.size());
    double const at = std::midpoint(values[left].first, values[right].first);
    double const low = values[static_cast<std::size_t>(middle - reach)].first;
    double const high = values[static_cast<std::size_t>(std::ceil(middle + reach))].first;
    return std::max(at - low, high - at) <= bound * std::abs(at);
  });
}

PredictedTimes SampledQuantiles::finish(std::span<const double> quantiles, std::uint64_t seed) && {
  for (auto const& [value, row] : samples_) times_.predicted_us.push_back(value);
  std::ranges::sort(samples_);
  std::vector<Sample> observed;
  for (std::size_t row = 0; row < rows(); ++row)
    observed.emplace_back(times_.observed_us[row], row);
  std::ranges::sort(observed);
  std::vector<std::size_t> const once(rows(), 1);
  for (double const quantile : quantiles) {
    PredictedQuantile out{.quantile = quantile,
                          .observed_us = weighted(observed, once, quantile),
                          .predicted_us = weighted(samples_, once, quantile)};
    out.saving_us = out.observed_us - out.predicted_us;
    out.rows_needed = rows_for_interval(quantile);
    out.interval_reaches_level = rows() >= out.rows_needed;
    std::vector<double> predicted;
    std::vector<double> savings;
    std::mt19937_64 random(seed);
    for (std::size_t resample = 0; resample < kResamples; ++resample) {
      std::vector<std::size_t> weights(rows(), 0);
      for (std::size_t i = 0; i < rows(); ++i) ++weights[random() % rows()];
      predicted.push_back(weighted(samples_, weights, quantile));
      savings.push_back(weighted(observed, weights, quantile) - predicted.back());
    }
    std::ranges::sort(predicted);
    std::ranges::sort(savings);
    auto const low = rank_of(.025, kResamples);
    auto const high = rank_of(.975, kResamples);
    out.low_us = predicted[low];
    out.high_us = predicted[high];
    out.saving_low_us = savings[low];
    out.saving_high_us = savings[high];
    times_.quantiles.push_back(out);
  }
  return std::move(times_);
}

std::size_t rows_for_interval(double quantile) {
  // All rows are on the one side of it, mostly on the side where more of them are.
  auto const misses = [&](double rows) {
    return std::pow(quantile, rows) + std::pow(1 - quantile, rows);
  };
  auto rows = std::ceil(std::log(kMisses) / std::log1p(-std::min(quantile, 1 - quantile)));
  while (rows < kRowsMax && misses(rows) > kMisses) ++rows;
  return static_cast<std::size_t>(std::min(rows, kRowsMax));
}

double quantile_of(std::vector<double> values, double quantile) {
  std::ranges::sort(values);
  auto const [low, high] = neighbours_of(quantile, values.size());
  return std::midpoint(values[low], values[high]);
}

}  // namespace reprise
