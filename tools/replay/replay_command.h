#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "archive/match/match.h"
#include "tools/archive/given_archive.h"
#include "tools/serve/injection.h"
#include "tools/serve/serving.h"

namespace reprise {

/// The options of `reprise replay`, as on its command line.
struct ReplayOptions {
  std::filesystem::path archive;
  std::string match = "fuzzy";
  std::string failures = "recorded";
  std::vector<std::string> ignored_params;
  double min_confidence = 0;
  InjectionOptions injection;
  std::string dates = "shift";
  std::string think_time = "none";
  std::string dns_time = "none";
  std::string pace = "streams";
  std::string protocol = "recorded";
  std::string topology = "recorded";
  std::string origin_rtt = "none";
  bool dns_any = false;
  bool dns_chains = false;
  std::uint32_t session = 0;
  std::vector<std::string> what_ifs;
  bool idle_what_ifs = false;  ///< those that change nothing are no errors
  std::optional<std::uint64_t> think_seed;
  bool strict = false;
  bool warm = false;
  std::filesystem::path report;
  ServingOptions serving;
  // Not on our command line.
  Repeats repeats = Repeats::kInOrder;
  GivenArchive::Amend amend;  ///< what to serve instead of the archive; can be empty
  bool empty_misses = false;  ///< see ReplaySession::Options
  bool serves_h3 = true;
};

/// Runs a replay to its end. Prints on stderr; returns the exit code. `command`: the words after
/// `--`; can be empty.
int replay(const ReplayOptions& options, const std::vector<std::string>& command);

}  // namespace reprise
