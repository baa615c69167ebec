#pragma once

// Writes an archive's session as a file of another tool. Counts what that cannot hold;
// docs/formats.md has the table. The same archive gives the same bytes: no clock, no random
// numbers, no paths.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

#include "archive/export/output.h"
#include "archive/export/report.h"
#include "archive/reader.h"

namespace reprise::exporting {

enum class Target : std::uint8_t { kHar, kWarc, kWprgo };

struct ExportOptions {
  std::uint32_t session = 0;   ///< 0: the last complete one, as in replay
  bool gzip = false;           ///< WARC: a gzip member per record; HAR: one for all
  std::function<bool()> stop;  ///< called before each exchange; can be empty
  Effort effort = Effort::kUsual;
  /// .wprgo: skips exchanges without a response. Web Page Replay injects nothing at all into an
  /// archive that has one, so files for it need this.
  bool answered_only = false;
  /// .wprgo: its time seed, instead of the session's start.
  std::optional<std::chrono::milliseconds> time_seed;
};

/// Why an export stopped.
struct Fault {
  std::string what;        ///< a clause for users that names the exchange
  std::error_code system;  ///< set if the output failed
};

/// The session for `asked`: that one, or for 0 the last complete one, otherwise the last. 0 if the
/// archive has no such session.
std::uint32_t choose_session(const ArchiveReader& archive, std::uint32_t asked);

/// Writes one session to `to`, streaming: bodies are never held as a whole. After a fault the
/// output is unusable.
std::optional<Fault> export_session(const ArchiveReader& archive, Target target,
                                    const ExportOptions& options, Output& to, ExportReport& report);

}  // namespace reprise::exporting
