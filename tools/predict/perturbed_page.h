#pragma once

// Tests the dependencies of a page (`reprise predict --perturb`): loads in which replays hold
// responses back, as analysis/dependency/perturbation.h asks for them.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/experiment_side.h"
#include "tools/predict/learnt_page.h"

namespace reprise {

struct PerturbTask {
  const ExperimentSide& base;      ///< of which `page` was learnt
  std::vector<std::string> words;  ///< its arguments of `reprise load`
  std::uint64_t seed = 1;
  /// No perturbation begins later.
  std::chrono::steady_clock::time_point ends;
};

/// Replaces the graph of `page` by what is known after the tests. Tells progress. An exit code if
/// the page cannot be loaded any more, or after an interruption; what was tested stays.
std::optional<int> test_dependencies(const PerturbTask& task, LearntPage& page);

}  // namespace reprise
