#pragma once

// Page loads that were measured together, and under what conditions: what one file of `reprise
// load` holds (RESULTS.md). result_file.h reads and writes it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pageload/results/machine.h"
#include "pageload/results/page_load.h"
#include "pageload/results/replay_summary.h"

namespace reprise {

/// How the replay that served one run ended.
struct ReplayRun {
  unsigned run = 1;
  int exit_code = 0;
  std::optional<ReplaySummary> report;  ///< none when it left none
};

/// Under which conditions a page is loaded.
struct LoadConfiguration {
  std::string browser = "chromium";
  std::string protocol = "recorded";  ///< "recorded", "h1", "h2"; "live" without an archive
  std::string link = "none";          ///< as replay --link takes it
  std::string cache = "cold";         ///< "cold", "warm"

  bool operator==(const LoadConfiguration&) const = default;
};

/// What held for every load of a result.
struct LoadSettings {
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds quiet{0};
  std::chrono::milliseconds settle{0};
  int width = 0;  ///< of the page, in CSS pixels; 0: not told
  int height = 0;
  double cpu_throttle = 1;
  std::vector<std::string> steps;  ///< "click #accept", for people
};

struct LoadResult {
  struct Browser {
    std::string name;                ///< as LoadConfiguration::browser
    std::string version;             ///< empty when it could not be started
    std::vector<std::string> flags;  ///< without program and profile
  };
  struct Load {
    unsigned run = 1;
    LoadConfiguration configuration;
    unsigned order = 1;
    bool warm_up = false;
    std::string left_out;               ///< why it is not counted, a sentence; empty: it is
    std::optional<std::size_t> replay;  ///< into LoadResult::replays
    PageLoad page;
  };
  std::string reprise = REPRISE_VERSION;  ///< the version that measured
  std::string archive;                    ///< its path; empty: loaded live
  std::string archive_sha256;             ///< empty: live, or not known
  Machine machine;
  std::uint64_t seed = 0;         ///< of the order of the loads
  std::vector<Browser> browsers;  ///< in the order of their first load
  LoadSettings settings;
  std::vector<Load> loads;
  std::vector<ReplayRun> replays;

  /// What the replay of a load reported; null when live, or when it left no report.
  const ReplaySummary* replay_of(const Load& load) const {
    if (!load.replay || !replays[*load.replay].report) return nullptr;
    return &*replays[*load.replay].report;
  }
};

}  // namespace reprise
