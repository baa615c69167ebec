#pragma once

// `reprise explain` of partial results: sums of many views, by kind.

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/contribution/kinds.h"

namespace reprise {

/// Whether a regular file begins with a line of a partial result (analysis/partials/PARTIALS.md).
bool is_partial_result(const std::filesystem::path& path);

struct PartialTablesTask {
  std::vector<std::filesystem::path> inputs;
  std::vector<std::string> tags;  ///< the names of those in the keys, in their order
  std::vector<std::string> by;
  double slowest_percent = 100;
  bool csv = false;
};

/// Prints the shares by kind of the slowest views, of all and of each slice. Returns an exit code;
/// its message has been printed.
int explain_partial_results(const PartialTablesTask& task, const KindRules& rules);

}  // namespace reprise
