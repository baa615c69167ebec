#include "tools/experiment/noise_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

#include "analysis/metric.h"
#include "analysis/repeats.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"
#include "tools/experiment/remedy.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

/// Effects by which people plan, as multiples of the least one that matters.
constexpr double kPlanned[] = {2, 5};

bool is_of(const LoadGroup& group, const LoadCell& cell) {
  return group.url == cell.url && group.conditions == cell.configuration;
}

/// The metric that decides whether a load was disturbed: the first time. A page has at least one
/// (noise_of()).
const MetricSpread& main_spread(const KnownNoise& noise, const CompareOptions& options) {
  auto const found =
      std::ranges::find(noise.spreads, counted_loads(options).metric, &MetricSpread::metric);
  return found == noise.spreads.end() ? noise.spreads.front() : *found;
}

/// Lines on the cells that were not loaded often enough.
std::string unknown_text(const LoadResult& result, const std::vector<LoadCell>& cells) {
  std::string out;
  for (const LoadCell& cell : cells) {
    LoadResult of_cell;
    std::ranges::copy_if(
        result.loads, std::back_inserter(of_cell.loads), [&](const LoadResult::Load& load) {
          return load.page.url == cell.url && load.configuration == cell.configuration;
        });
    LostLoads loads;
    loads.add(of_cell);
    if (loads.made - loads.lost() >= NoiseCheck::kLoadsMin) continue;
    out += printable(cell.url + ": the noise is unknown: " + unknown_noise_text(loads)) + "\n";
  }
  return out;
}

}  // namespace

std::string unknown_noise_text(const LostLoads& loads) {
  auto const counting = loads.made - loads.lost();
  auto text = std::to_string(counting) + " of " + counted(loads.made, "load") +
              (counting == 1 ? " counts" : " count") + ", at least " +
              std::to_string(NoiseCheck::kLoadsMin) + " are needed";
  if (loads.disturbed.loads > 0) {
    return text + "; " + counted(loads.disturbed.loads, "load") +
           (loads.disturbed.loads == 1 ? " was" : " were") +
           " disturbed, the first one: " + loads.disturbed.first + ". " +
           remedy_text(loads.disturbed.first);
  }
  if (loads.failed.loads > 0) text += "; the first one that failed: " + loads.failed.first;
  return text;
}

bool NoiseCheck::look_up(const LoadResult& result, const std::vector<LoadCell>& cells,
                         std::chrono::sys_seconds now) {
  pages_.clear();
  for (const LoadCell& cell : cells) {
    auto known = store_.find(NoiseStore::key_of(result, cell, metrics_of(options_.compare)), now);
    if (!known) return false;
    pages_.push_back({.cell = cell, .noise = std::move(*known)});
  }
  return true;
}

bool NoiseCheck::measure(ExperimentSide side, std::chrono::sys_seconds now,
                         std::chrono::steady_clock::time_point ends) {
  auto const cells = side.cells();
  std::vector<ExperimentSide> sides;
  sides.push_back(std::move(side));
  Experiment experiment(std::move(sides), kLoads);
  experiment.end_by(ends);
  auto const counted = counted_loads(options_.compare);
  DisturbedRepeats repeats;
  std::size_t counting = 0;
  for (std::size_t run = 0; run <= kLoads; ++run) {
    auto const left = kLoads + 1 - std::max<std::size_t>(run, 1);
    if (repeats.too_many(counting) || counting + left < kLoadsMin) break;
    if (std::chrono::steady_clock::now() >= ends) {
      std::fprintf(stderr,
                   "reprise: the noise check ends after %zu of %zu loads: a quarter of --budget\n",
                   run - std::min<std::size_t>(run, 1), kLoads);
      break;
    }
    while (true) {
      if (!experiment.load(0, run)) {
        exit_code_ = experiment.exit_code();
        return false;
      }
      auto const why = experiment.count_or_skip(run, counted);
      if (why.empty()) {
        counting += run > 0 ? 1 : 0;
        break;
      }
      repeats.add();
      if (repeats.is_used_up()) {
        say(0, "run " + std::to_string(run) + " does not count: " + why);
        break;
      }
      print_repeat("run " + std::to_string(run), why);
    }
  }
  LoadResult const& result = experiment.side(0).result();
  keep(result, cells, experiment.load_seconds(), now);
  pages_ = noise_of(result, cells, experiment.load_seconds(), now);
  unknown_ = unknown_text(result, cells);
  return true;
}

void NoiseCheck::keep(const LoadResult& result, const std::vector<LoadCell>& cells,
                      double side_seconds, std::chrono::sys_seconds now) {
  for (auto const& [cell, noise] : noise_of(result, cells, side_seconds, now)) {
    store_.keep(NoiseStore::key_of(result, cell, metrics_of(options_.compare)), noise);
  }
}

std::vector<NoiseCheck::Page> NoiseCheck::noise_of(const LoadResult& result,
                                                   const std::vector<LoadCell>& cells,
                                                   double side_seconds,
                                                   std::chrono::sys_seconds now) const {
  std::vector<Page> pages;
  auto const all = measurements_of(result);
  if (!all) return pages;
  auto counted = counted_loads(options_.compare);
  counted.usual_steal = usual_steal(*all);
  for (const LoadGroup& group : groups_of(*all, counted)) {
    auto const cell =
        std::ranges::find_if(cells, [&](auto const& each) { return is_of(group, each); });
    if (cell == cells.end() || group.loads.size() < kLoadsMin) continue;
    auto spreads = spreads_of(group, options_.compare);
    if (spreads.empty()) continue;  // no load has a value of any compared metric
    pages.push_back({.cell = *cell,
                     .noise = {.spreads = std::move(spreads),
                               .load_seconds = side_seconds / static_cast<double>(cells.size()),
                               .measured = now}});
  }
  return pages;
}

std::string NoiseCheck::text(std::chrono::seconds budget) const {
  auto out = unknown_;
  double const alpha_over = static_cast<double>(pages_.size());
  for (auto const& [cell, noise] : pages_) {
    auto const& spread = main_spread(noise, options_.compare);
    auto const& metric = kMetrics[spread.metric];
    auto const least = minimum_effect(options_.compare, spread.metric).of(spread.median);
    char line[160];
    std::snprintf(line, sizeof line, "%s varies by %.2f %% (%s%s)",
                  std::string(metric.title).c_str(),
                  spread.median > 0 ? 100 * spread.deviation / spread.median : 0,
                  counted(spread.loads, "load").c_str(),
                  spread.loads_of_a_seed > 0 ? "; among links that lose the same packets" : "");
    out += printable(cell.url) + ": " + line;
    auto const metrics =
        static_cast<std::size_t>(alpha_over * static_cast<double>(noise.spreads.size()));
    std::optional<std::size_t> before;
    bool is_first = true;
    for (double const times : kPlanned) {
      auto const loads = needed_loads(spread, times * least, metrics, options_);
      if (!std::exchange(is_first, false) && loads == before) continue;
      before = loads;
      out += "; a change of " + metric_text(metric.unit, times * least) + " needs ";
      if (!loads) {
        out += "more than " + counted(options_.most_runs, "load") + " a side (--max-runs)";
        continue;
      }
      auto const seconds = 2 * static_cast<double>(*loads + 1) * noise.load_seconds;
      std::chrono::seconds const time(std::llround(std::ceil(seconds * alpha_over)));
      out += counted(*loads, "load") + " a side, about " + duration_text(time);
      if (time > budget) out += " (more than --budget leaves)";
    }
    out += "\n";
  }
  return out;
}

boost::json::array NoiseCheck::json() const {
  boost::json::array out;
  for (auto const& [cell, noise] : pages_) {
    auto const& spread = main_spread(noise, options_.compare);
    out.push_back({{"url", as_utf8(cell.url)},
                   {"configuration", to_json(cell.configuration)},
                   {"metric", kMetrics[spread.metric].name},
                   {"loads", spread.loads},
                   {"median", spread.median},
                   {"deviation", spread.deviation},
                   {"loads_of_a_seed", spread.loads_of_a_seed},
                   {"load_seconds", noise.load_seconds}});
  }
  return out;
}

}  // namespace reprise
