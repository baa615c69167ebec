#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <system_error>
#include <vector>

#include "archive/exchange.h"
#include "archive/reader.h"
#include "archive/writer.h"
#include "base/result.h"

namespace reprise {

/// Which exchanges to keep if several archives have some of equal key (match.h). Those of one
/// archive are repeats and always stay together.
enum class Duplicates : std::uint8_t {
  kKeep,   ///< all: a replay serves those of the first archive first
  kFirst,  ///< those of the first archive that has a complete one
  kLast,   ///< those of the last archive that has a complete one
};

struct MergeOptions {
  Duplicates duplicates = Duplicates::kKeep;
  /// true: keep all sessions of all archives. false: merge the session that a replay of each
  /// archive would serve into that of the first archive, because a replay serves one session. Then
  /// other sessions of the first archive are kept, and those of the others are skipped.
  bool separate_sessions = false;
  /// Whose start URLs the common session gets: of all archives, or only of the first one that has
  /// some. Other archives then just add exchanges.
  bool all_pages = true;
  /// Which exchanges to take; `number` is that of `ls` in their archive.
  std::function<bool(const Exchange&, std::size_t number)> only;
};

/// The result for one archive.
struct MergedPart {
  std::uint64_t taken = 0;
  std::uint64_t duplicates = 0;      ///< skipped for another archive's
  std::uint64_t other_sessions = 0;  ///< exchanges skipped because they are in other sessions
};

/// Why archives cannot be merged.
struct MergeError {
  std::error_code code;
  /// Index of the archive that was being read. An error of the writer has one, too.
  std::size_t archive = 0;
};

/// Merges archives into one, in their order, in bounded memory. The first archive is copied
/// unchanged. For exchanges that join its session, sequence numbers and connection ids continue
/// those before, and times count from that session's start (by the wall clock; unchanged if that is
/// over 292 years away). The session's start, seed, clock, versions, command line and end are the
/// first one's, its pages as `all_pages` says. Errors: corrupt: the named archive is
/// damaged; too_large; write(2)'s.
std::expected<std::vector<MergedPart>, MergeError> merge_archives(
    std::span<const ArchiveReader* const> from, const MergeOptions& options, ArchiveWriter& to);

}  // namespace reprise
