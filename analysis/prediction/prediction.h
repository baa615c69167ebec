#pragma once

// The distribution of a page's milestones under a change, from its dependency graph and observed
// loads: Monte Carlo over whole loads, each as it would be under the change. Pure; deterministic by
// seed. README.md says what the model contains and what it does not.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_page.h"
#include "analysis/prediction/load_parts.h"
#include "analysis/prediction/page_change.h"
#include "analysis/prediction/sampled_quantiles.h"

namespace reprise {

struct PredictionOptions {
  PredictionLink link;
  /// The browser makes two connections to the document's server, of which HTTP/2 needs one. So does
  /// Chromium, but not its headless shell.
  bool connects_ahead = false;
  std::vector<double> quantiles = {.5, .9};  ///< each above 0 and below 1
  /// Samples are drawn until the order statistics around each quantile, at 95 %, are within this
  /// part of it on either side, or `samples_max` is reached.
  double bound = .01;
  std::size_t samples_max = 20'000;
  std::uint64_t seed = 1;
};

struct MilestonePrediction : PredictedTimes {
  Milestone milestone = Milestone::kLoadEvent;
  std::size_t loads = 0;      ///< in which it was reached
  bool within_bound = false;  ///< otherwise samples_max ended it
};

struct Prediction {
  std::vector<MilestonePrediction> milestones;  ///< those that the graph and a load have
  std::size_t samples = 0;
};

/// Each sample is a whole observed load; what would be different under the change is added to what
/// was observed, so that no change predicts exactly what was observed. All loads are sampled
/// equally often. Without think times that are drawn, each load is one sample. Errors: a sentence,
/// when there are no loads, an option or change is out of range, or no milestone was reached.
std::expected<Prediction, std::string> predict(const DependencyGraph& graph,
                                               std::span<const ObservedPage> loads,
                                               const PageChange& change,
                                               const PredictionOptions& options);

}  // namespace reprise
