#pragma once

// The files on the command line of `reprise explain`, as views.

#include <filesystem>
#include <vector>

#include "analysis/contribution/explanation.h"

namespace reprise {

struct ExplainInputs {
  std::vector<GivenView> views;
  std::vector<ExplanationFacts::Input> inputs;  ///< those with views: GivenView::input
  std::vector<CallLoss> losses;
};

/// Adds the views of one file: a result of `load -o`, an archive or a recording of another tool, a
/// HAR, lines of call trees (analysis/calls/CALLS.md), or beacons (analysis/beacons/BEACONS.md),
/// also compressed with gzip or zstd.
/// Returns an exit code; its message has been printed.
int read_explain_input(const std::filesystem::path& path, ExplainInputs& inputs);

}  // namespace reprise
