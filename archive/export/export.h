#pragma once

// An archive's session as a file of another tool. What that cannot hold is counted; docs/formats.md
// has the table. The same archive gives the same bytes: no clock, no chance, no path.

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
  std::uint32_t session = 0;   ///< 0: the last complete one, as replay has it
  bool gzip = false;           ///< WARC: a gzip member a record; HAR: one for all
  std::function<bool()> stop;  ///< asked before each exchange; may be empty
};

/// Why an export did not come to its end.
struct Fault {
  std::string what;        ///< one clause for people, naming the exchange
  std::error_code system;  ///< set when the output failed
};

/// The session that `asked` means: it, or for 0 the last complete one, else the last. 0 when the
/// archive has no such session.
std::uint32_t choose_session(const ArchiveReader& archive, std::uint32_t asked);

/// Writes one session to `to`, streaming: bodies are never held as a whole. With a fault, what was
/// written is of no use.
std::optional<Fault> export_session(const ArchiveReader& archive, Target target,
                                    const ExportOptions& options, Output& to, ExportReport& report);

}  // namespace reprise::exporting
