#include "analysis/needed_loads.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/blocks.h"
#include "analysis/normal.h"

namespace reprise {
namespace {

/// Four of five gates.
const double kPowerZ = normal_upper_quantile(0.2);
/// Of the rank test beside the t-test, where the noise is normal.
constexpr double kEfficiency = 0.955;

/// Of the rank test in such blocks beside the t-test. Ranks within few values tell less: as the
/// Friedman test, by N / (N + 1) for blocks of N values.
double efficiency(std::size_t block) {
  auto const values = static_cast<double>(2 * block);
  return block == 0 ? kEfficiency : kEfficiency * values / (values + 1);
}

/// The loads of links that have seeds, by seed; empty unless seeds differ and most are there twice.
std::map<double, std::vector<double>> by_seed(const LoadGroup& group, std::size_t metric) {
  std::map<double, std::vector<double>> out;
  for (const LoadRow* load : group.loads) {
    if (load->link_seed && load->metrics[metric]) {
      out[*load->link_seed].push_back(*load->metrics[metric]);
    }
  }
  auto const alone = static_cast<std::size_t>(
      std::ranges::count_if(out, [](auto const& each) { return each.second.size() < 2; }));
  if (out.size() < 2 || 2 * alone > out.size()) out.clear();
  return out;
}

/// What loads of the same seed vary by.
void set_spread_of_seeds(const std::map<double, std::vector<double>>& seeds, MetricSpread& spread) {
  double squares = 0;
  std::size_t freedom = 0, most = 0;
  for (auto const& [seed, values] : seeds) {
    auto const more = values.size() - 1;
    if (more > 0) squares += static_cast<double>(more) * std::pow(standard_deviation(values), 2);
    freedom += more;
    most = std::max(most, values.size());
  }
  spread.deviation = std::sqrt(squares / static_cast<double>(freedom));
  spread.loads_of_a_seed = most;
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
    auto const seeds = by_seed(group, metric);
    if (!seeds.empty()) set_spread_of_seeds(seeds, out.back());
  }
  return out;
}

std::optional<std::size_t> needed_loads(const MetricSpread& spread, double effect,
                                        std::size_t metrics, const GateOptions& options) {
  auto const least = minimum_effect(options.compare, spread.metric).of(spread.median);
  Looks looks(options.look_every, options.most_runs);
  for (std::size_t look = 0; look < looks.at().size(); ++look) {
    auto const loads = looks.at()[look];
    auto const level = looks.level(look, options.compare.alpha / static_cast<double>(metrics));
    if (smallest_p(loads, spread.loads_of_a_seed) > level) continue;
    auto const error =
        spread.deviation *
        std::sqrt(2 / (efficiency(spread.loads_of_a_seed) * static_cast<double>(loads)));
    bool const is_found = effect >= (normal_upper_quantile(level / 2) + kPowerZ) * error;
    bool const is_large_enough = effect - least >= kPowerZ * error;
    if (is_found && is_large_enough) return loads;
  }
  return std::nullopt;
}

}  // namespace reprise
