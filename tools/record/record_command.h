#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/load/browsing_options.h"
#include "tools/record/origin_options.h"
#include "tools/serve/injection.h"
#include "tools/serve/serving.h"

namespace CLI {
class App;
}

namespace reprise {

/// The options of `reprise record`, as on its command line.
struct RecordOptions {
  std::filesystem::path output;
  std::vector<std::string> urls;
  std::filesystem::path joins;  ///< the archive of which `output` becomes part; empty: none
  bool append = false;
  bool overwrite = false;  ///< an archive that no process writes, once all else is ready
  OriginOptions origins;
  bool fsync = false;
  bool traceparent = false;
  std::string trace_urls = "on";
  InjectionOptions injection;
  std::filesystem::path url_list;
  unsigned retries = 2;
  std::filesystem::path browser;
  std::vector<std::string> browser_flags;
  std::filesystem::path load_report;
  std::string device;
  unsigned quiet_ms = kQuietMs;
  unsigned settle_ms = 500;
  unsigned timeout_s = 30;
  ServingOptions serving;

  /// The archive that the user gave; messages name this one.
  const std::filesystem::path& named() const { return joins.empty() ? output : joins; }
};

/// Records until the end of the run. Prints on stderr; returns the exit code. `command`: the words
/// after `--`; can be empty.
int record(const RecordOptions& options, const std::vector<std::string>& command);

/// What `reprise record --urls`, parsed by `command`, gives the `record` of each page: its options
/// but for those of the list. A parser of the same options reads them alike.
std::vector<std::string> passed_on(const CLI::App& command);

}  // namespace reprise
