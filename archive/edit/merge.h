#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "archive/exchange.h"
#include "archive/reader.h"
#include "archive/writer.h"
#include "base/result.h"

namespace reprise {

/// What happens to exchanges of equal key (match.h) that come from different archives. Those of one
/// archive are repeats, and always stay together.
enum class Duplicates : std::uint8_t {
  kKeep,   ///< all: a replay gives those of the first archive first
  kFirst,  ///< those of the first archive that has a complete one
  kLast,   ///< those of the last archive that has a complete one
};

struct MergeOptions {
  Duplicates duplicates = Duplicates::kKeep;
  /// Every session of every archive stays one of its own. Otherwise, since a replay answers from
  /// one session, what a replay of each archive would serve becomes part of what a replay of the
  /// first would. Other sessions of the first archive stay, those of the others are left out.
  bool separate_sessions = false;
  /// Which exchanges to take; `number` is that of `ls` in their archive.
  std::function<bool(const Exchange&, std::size_t number)> only;
};

/// What became of one archive.
struct MergedPart {
  std::uint64_t taken = 0;
  std::uint64_t duplicates = 0;      ///< left out for another archive's
  std::uint64_t other_sessions = 0;  ///< exchanges left out because they are of other sessions
};

/// Merges archives into one, in their order, in bounded memory. All of the first archive stays as
/// it is. Of what joins its session, sequence numbers and connection ids go on behind those before,
/// and times are told from that session's start (by the wall clock; unchanged where that is over
/// 292 years away). The session's start, seed, clock, versions, command line and end are the first
/// one's, its pages those of all.
/// Errors: corrupt; too_large; write(2)'s.
Result<std::vector<MergedPart>> merge_archives(std::span<const ArchiveReader* const> from,
                                               const MergeOptions& options, ArchiveWriter& to);

}  // namespace reprise
