#pragma once

// `reprise explain --partial`: beacons in, lines out, for engines that run many of them
// (analysis/partials/PARTIALS.md).

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/contribution/kinds.h"

namespace reprise {

/// Sums the beacons of the files, or of standard input if there are none, to standard output.
/// Counters go to standard error as Hadoop Streaming reads them. Returns 0, kExitHopelessData (not
/// one line is a beacon) or kExitTryAgain.
int write_partials(const std::vector<std::filesystem::path>& inputs,
                   const std::vector<std::string>& tags, const KindRules& rules,
                   const Entities& entities);

}  // namespace reprise
