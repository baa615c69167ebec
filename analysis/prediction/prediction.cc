#include "analysis/prediction/prediction.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "analysis/prediction/changed_graph.h"
#include "analysis/prediction/changed_load.h"

namespace reprise {
namespace {

/// Fewer samples say nothing about a quantile.
constexpr std::size_t kSamplesMin = 100;

bool is_factor(double value) {
  return std::isfinite(value) && value >= 0;
}

std::string fault_of(const DependencyGraph& graph, std::span<const ObservedPage> loads,
                     const PageChange& change, const PredictionOptions& options) {
  if (loads.empty()) return "there are no loads to predict from";
  if (!std::isfinite(options.link.bytes_per_second) || options.link.bytes_per_second < 0) {
    return "the rate of the link must be a number from 0";
  }
  if (!is_factor(change.link_factor) || change.link_factor == 0) {
    return "the factor of the link's rate must be above 0";
  }
  if (options.quantiles.empty()) return "no quantile is asked for";
  for (double const quantile : options.quantiles) {
    if (!(quantile > 0 && quantile < 1)) return "a quantile must be between 0 and 1";
  }
  for (PageChange::Part const& part : change.parts) {
    if (!is_factor(part.change.think_factor) || !is_factor(part.change.bytes_factor) ||
        !is_factor(part.change.cpu_factor)) {
      return "a factor must be a number from 0";
    }
    for (auto const node : part.nodes) {
      if (node >= graph.nodes.size()) return "a change is of a node that the graph does not have";
    }
  }
  return {};
}

void apply(NodeChange& all, const NodeChange& one) {
  all.think_factor *= one.think_factor;
  all.think_us += one.think_us;
  all.rtt_us += one.rtt_us;
  all.dns_us += one.dns_us;
  all.bytes_factor *= one.bytes_factor;
  all.bytes_added += one.bytes_added;
  all.cpu_factor *= one.cpu_factor;
  for (auto const flag : {&NodeChange::drop, &NodeChange::refused, &NodeChange::at_hand,
                          &NodeChange::cached, &NodeChange::preload, &NodeChange::early_hints,
                          &NodeChange::preconnect, &NodeChange::coalesce}) {
    all.*flag = all.*flag || one.*flag;
  }
  if (one.loading) all.loading = one.loading;
  if (one.urgency) all.urgency = one.urgency;
  if (one.protocol) all.protocol = one.protocol;
}

class Predictor {
 public:
  Predictor(const DependencyGraph& graph, std::span<const ObservedPage> loads,
            const PageChange& change, const PredictionOptions& options)
      : graph_(graph), change_(change), options_(options), random_(options.seed) {
    for (ObservedPage const& load : loads) {
      auto& parts = loads_.emplace_back().parts;
      parts = load_parts(graph, load, options.link);
      parts.connects_ahead = options.connects_ahead;
    }
    changes_.resize(graph.nodes.size());
    for (PageChange::Part const& part : change.parts) {
      for (auto const node : part.nodes) apply(changes_[node], part.change);
      draws_ = draws_ || (!part.nodes.empty() && !part.think_draws_us.empty());
    }
    changed_graph_ = changed_graph(graph, changes_);
  }

  std::expected<Prediction, std::string> run() && {
    std::vector<NodeChange> const unchanged(graph_.nodes.size());
    for (Load& load : loads_) {
      load.unchanged_us = changed_load(graph_, load.parts, unchanged, 1);
      for (std::size_t i = 0; i < kMilestones; ++i) {
        if (!load.parts.observed_us[i] || !load.unchanged_us[i]) continue;
        load.places[i] = milestones_[i].add_row(static_cast<double>(*load.parts.observed_us[i]));
      }
    }
    if (std::ranges::none_of(milestones_, &SampledQuantiles::any)) {
      return std::unexpected("no load reached a milestone that the graph has");
    }
    std::size_t samples = 0;
    std::size_t checked = 0;
    std::array<bool, kMilestones> within{};
    do {
      for (Load const& load : loads_) sample(load);
      samples += loads_.size();
      if (!draws_) {
        within.fill(true);
        break;
      }
      // Each time when there are a tenth more.
      if (samples < kSamplesMin || samples < checked + checked / 10) continue;
      checked = samples;
      for (std::size_t i = 0; i < kMilestones; ++i) {
        within[i] =
            !milestones_[i].any() || milestones_[i].is_within(options_.quantiles, options_.bound);
      }
    } while (!std::ranges::all_of(within, std::identity()) &&
             samples + loads_.size() <= options_.samples_max);

    Prediction prediction{.milestones = {}, .samples = samples};
    for (std::size_t i = 0; i < kMilestones; ++i) {
      if (!milestones_[i].any()) continue;
      MilestonePrediction& out = prediction.milestones.emplace_back();
      static_cast<PredictedTimes&>(out) =
          std::move(milestones_[i]).finish(options_.quantiles, options_.seed);
      out.milestone = static_cast<Milestone>(i);
      out.loads = out.observed_us.size();
      out.within_bound = within[i];
    }
    return prediction;
  }

 private:
  struct Load {
    LoadParts parts;
    MilestoneTimes unchanged_us;
    std::array<std::size_t, kMilestones> places{};
  };

  void sample(const Load& load) {
    auto changes = changes_;
    for (PageChange::Part const& part : change_.parts) {
      if (part.think_draws_us.empty()) continue;
      for (auto const node : part.nodes) {
        changes[node].think_us += part.think_draws_us[random_() % part.think_draws_us.size()];
      }
    }
    auto const changed = changed_load(changed_graph_, load.parts, changes, change_.link_factor);
    for (std::size_t i = 0; i < kMilestones; ++i) {
      if (!load.parts.observed_us[i] || !load.unchanged_us[i]) continue;
      // The same milestones are reached, whatever changes.
      double const effect = *changed[i] - *load.unchanged_us[i];
      milestones_[i].add(load.places[i],
                         std::max(0.0, static_cast<double>(*load.parts.observed_us[i]) + effect));
    }
  }

  const DependencyGraph& graph_;
  const PageChange& change_;
  const PredictionOptions& options_;
  std::mt19937_64 random_;
  std::vector<Load> loads_;
  std::vector<NodeChange> changes_;
  DependencyGraph changed_graph_;
  bool draws_ = false;
  std::array<SampledQuantiles, kMilestones> milestones_;  ///< by Milestone
};

}  // namespace

std::expected<Prediction, std::string> predict(const DependencyGraph& graph,
                                               std::span<const ObservedPage> loads,
                                               const PageChange& change,
                                               const PredictionOptions& options) {
  if (auto fault = fault_of(graph, loads, change, options); !fault.empty()) {
    return std::unexpected(std::move(fault));
  }
  return Predictor(graph, loads, change, options).run();
}

}  // namespace reprise
