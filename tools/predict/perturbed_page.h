#pragma once

// Tests the dependencies of a page (`reprise predict --perturb`): loads in which replays hold
// responses back, as analysis/dependency/perturbation.h asks for them. What they tell is kept
// beside the archive, for later predictions of the page.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/experiment_side.h"
#include "tools/predict/learnt_page.h"
#include "tools/predict/tested_file.h"

namespace reprise {

struct PerturbTask {
  const ExperimentSide& base;      ///< of which `page` was learnt
  std::vector<std::string> words;  ///< its arguments of `reprise load`
  std::uint64_t seed = 1;
  /// No perturbation begins later.
  std::chrono::steady_clock::time_point ends;
};

/// Replaces the graph of `page` by what is known after the tests, and after earlier ones of what
/// was not tested now; keeps it beside the archive. Tells progress. An exit code if the page cannot
/// be loaded any more, or after an interruption; what was tested stays.
std::optional<int> test_dependencies(const PerturbTask& task, LearntPage& page);

/// The file beside the archive of a side.
TestedFile tested_file_of(const ExperimentSide& side);
/// Adds to the graph of `page`, which was learnt of the loads of `base`, what earlier tests have
/// found, if they were kept beside the archive. Returns a remark about that, or why they cannot be
/// used.
std::optional<std::string> use_kept_tests(const ExperimentSide& base, LearntPage& page);

}  // namespace reprise
