#pragma once

// What commands share that an engine runs many times over parts of the work: lines in, lines out,
// exit codes and counters (analysis/partials/PARTIALS.md).

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/partials/partial_table.h"

namespace reprise {

/// As engines understand them, from sysexits.h.
inline constexpr int kExitHopelessData = 65;  ///< the same input fails again
inline constexpr int kExitTryAgain = 75;      ///< reading or writing failed

/// A counter on standard error, as Hadoop Streaming reads them.
void count_for_engine(const char* name, std::uint64_t number);

/// Buffered standard output that remembers a failure.
class LineOutput {
 public:
  /// Borrows this.
  PartialSink sink();
  /// False if anything could not be written, which is then printed as of `command`.
  bool finish(const char* command);

 private:
  bool good_ = true;
};

/// The key of the first line of a regular file with partial results; empty for any other file.
std::string first_key_of(const std::filesystem::path& path);

/// Merges sorted partial results of the files, or of standard input if there are none, to standard
/// output. An input that cannot be merged is read to its end. Returns 0, kExitHopelessData or
/// kExitTryAgain.
int merge_partials(const char* command, const std::vector<std::filesystem::path>& inputs);

}  // namespace reprise
