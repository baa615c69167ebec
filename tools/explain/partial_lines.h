#pragma once

// `reprise explain --partial` and `--merge`: lines in, lines out, for engines that run many of them
// (analysis/partials/PARTIALS.md).

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/contribution/kinds.h"

namespace reprise {

/// As engines understand them, from sysexits.h.
inline constexpr int kExitHopelessData = 65;  ///< the same input fails again
inline constexpr int kExitTryAgain = 75;      ///< reading or writing failed

/// Sums the beacons of the files, or of standard input if there are none, to standard output.
/// Counters go to standard error as Hadoop Streaming reads them. Returns 0, kExitHopelessData (not
/// one line is a beacon) or kExitTryAgain.
int write_partials(const std::vector<std::filesystem::path>& inputs,
                   const std::vector<std::string>& tags, const KindRules& rules,
                   const Entities& entities);

/// Merges sorted partial results in the same way. An input that cannot be merged is read to its end
/// and ends with kExitHopelessData.
int merge_partials(const std::vector<std::filesystem::path>& inputs);

}  // namespace reprise
