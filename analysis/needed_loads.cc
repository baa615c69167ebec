#include "analysis/needed_loads.h"

#include <algorithm>
#include <cmath>

#include "analysis/normal.h"

namespace reprise {
namespace {

/// Four of five gates.
const double kPowerZ = normal_upper_quantile(0.2);
/// Of the rank test beside the t-test, where the noise is normal.
constexpr double kEfficiency = 0.955;

/// The smallest two-sided p of a rank test of `loads` against as many: 2 / binomial(2n, n).
double smallest_p(std::size_t loads) {
  auto const n = static_cast<double>(loads);
  return 2 * std::exp(2 * std::lgamma(n + 1) - std::lgamma(2 * n + 1));
}

}  // namespace

std::vector<MetricSpread> spreads_of(const LoadGroup& group, const CompareOptions& options) {
  std::vector<MetricSpread> out;
  for (auto const metric : metrics_of(options)) {
    auto const values = values_of(group, metric);
    if (values.empty()) continue;
    out.push_back({.metric = metric,
                   .loads = values.size(),
                   .median = median(values),
                   .deviation = standard_deviation(values)});
  }
  return out;
}

std::optional<std::size_t> needed_loads(const MetricSpread& spread, double effect,
                                        std::size_t metrics, const GateOptions& options) {
  auto const bound = minimum_effect(options.compare, spread.metric);
  auto const least = std::max(bound.relative * spread.median, bound.absolute);
  Looks looks(options.look_every, options.most_runs);
  for (std::size_t look = 0; look < looks.at().size(); ++look) {
    auto const loads = looks.at()[look];
    auto const level = looks.level(look, options.compare.alpha / static_cast<double>(metrics));
    if (smallest_p(loads) > level) continue;
    auto const error = spread.deviation * std::sqrt(2 / (kEfficiency * static_cast<double>(loads)));
    bool const is_found = effect >= (normal_upper_quantile(level / 2) + kPowerZ) * error;
    bool const is_large_enough = effect - least >= kPowerZ * error;
    if (is_found && is_large_enough) return loads;
  }
  return std::nullopt;
}

}  // namespace reprise
