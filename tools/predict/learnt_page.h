#pragma once

// A page as its traced loads show it, and what it would be under a change (`reprise predict`,
// `reprise advise`).

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/advice/page_losses.h"
#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_page.h"
#include "analysis/dependency/tested_dependencies.h"
#include "analysis/prediction/prediction.h"
#include "tools/experiment/experiment_side.h"
#include "tools/predict/asked_quantiles.h"

namespace reprise {

struct LearntPage {
  std::vector<ObservedPage> loads;
  DependencyGraph graph;
  std::vector<DependencyTest> tests;  ///< that made the graph what it is
};

/// The loads that count, with their traces. Prints which of these cannot be read: the loads have no
/// main thread then.
std::vector<ObservedPage> observed_loads(const LoadResult& result);
/// Of the loads of one side that count.
LearntPage learn_page(const LoadResult& result);

/// With `--trace` to that folder, unless they name one.
std::vector<std::string> traced(std::vector<std::string> load_words,
                                const std::filesystem::path& folder);

/// A prediction, and what it leaves out.
struct SidePrediction {
  Prediction prediction;
  std::vector<std::string> remarks;
};

/// Of the milestones of `changed`, by the loads of `base`. `quantiles`: each above 0 and below 1.
/// `slowdown`: as predicted_change() takes it. The error is a sentence.
std::expected<SidePrediction, std::string> predict_side(
    const ExperimentSide& base, const ExperimentSide& changed, const LearntPage& page,
    std::uint64_t seed, std::span<const double> quantiles = kPredictedQuantiles,
    std::optional<double> slowdown = {});

/// What the page does not do any more when it is changed; nothing if a change that `recorded` does
/// not have is to drop something.
PageLosses losses_of(const ExperimentSide& recorded, const ExperimentSide& changed);

/// The graph in that folder, if its dependencies were tested by perturbation; nothing if they were
/// not, or it is of another page. The error is a sentence: it cannot be read.
std::expected<std::optional<DependencyGraph>, std::string> kept_dependencies(
    const std::filesystem::path& folder, const std::string& page);
/// Writes the graph to dependency.json in `folder`. Prints why it could not; false then.
bool keep_dependencies(const std::filesystem::path& folder, const DependencyGraph& graph);

/// The times of a milestone in the loads of `result` that count, in us.
std::vector<double> milestone_times(const LoadResult& result, Milestone milestone);

}  // namespace reprise
