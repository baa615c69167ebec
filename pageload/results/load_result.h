#pragma once

// Page loads that were measured together, and their conditions: the contents of one file of
// `reprise load` (RESULTS.md). result_file.h reads and writes it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pageload/results/machine.h"
#include "pageload/results/page_load.h"
#include "pageload/results/replay_summary.h"

namespace reprise {

/// The end of the replay that served one run.
struct ReplayRun {
  unsigned run = 1;
  int exit_code = 0;
  std::optional<ReplaySummary> report;  ///< nothing if it wrote none
};

/// The conditions of a page's loads.
struct LoadConfiguration {
  std::string browser = "chromium";
  /// "recorded", "h1", "h2", "h3", "h3-known"; "live" without an archive.
  std::string protocol = "recorded";
  std::string link = "none";   ///< as in replay --link
  std::string cache = "cold";  ///< "cold", "warm"

  bool operator==(const LoadConfiguration&) const = default;
};

/// The settings of all loads in a result.
struct LoadSettings {
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds quiet{0};
  std::chrono::milliseconds settle{0};
  int width = 0;  ///< of the page, in CSS pixels; 0: unknown
  int height = 0;
  double cpu_throttle = 1;
  std::string device;              ///< "Pixel 7"; empty: none
  std::vector<std::string> steps;  ///< "click #accept", for messages
  /// Options of the replays that change what a page gets, "--think-time=recorded"; not those that
  /// the configurations and what-ifs are. Nothing: unknown, or live.
  std::optional<std::vector<std::string>> replay_options;
};

/// A change of the replays (`--what-if`), and what it came to.
struct WhatIfMade {
  struct Place {
    std::string where;  ///< a URL or a host
    std::string what;
  };
  std::string text;            ///< as given
  std::uint64_t selected = 0;  ///< requests
  std::uint64_t changed = 0;
  std::vector<Place> places;         ///< the first ones
  std::vector<std::string> remarks;  ///< why something was not changed
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
    std::string skipped;  ///< why it is not counted, a sentence; empty: it is
    /// What disturbed it, a sentence, where loads are not repeated; empty: nothing, or not judged.
    std::string disturbed;
    std::string node;                   ///< of a campaign, where it was made; empty: no campaign
    std::optional<std::size_t> replay;  ///< into LoadResult::replays
    PageLoad page;

    /// Whether it is one of the loads that were asked for: not one that warms up, nor one that was
    /// disturbed and repeated.
    bool was_asked_for() const { return !warm_up && skipped.empty(); }
    /// Whether comparisons use it.
    bool counts() const { return was_asked_for() && page.outcome == LoadOutcome::kLoaded; }
  };
  std::string reprise = REPRISE_VERSION;  ///< the version that measured
  std::string archive;                    ///< its path; empty: loaded live
  std::string archive_sha256;             ///< empty: live, or unknown
  Machine machine;
  std::uint64_t seed = 0;         ///< of the order of the loads
  std::vector<Browser> browsers;  ///< in the order of their first load
  LoadSettings settings;
  std::vector<WhatIfMade> what_ifs;
  std::vector<Load> loads;
  std::vector<ReplayRun> replays;

  /// What the replay of a load reported; null when live, or when it left no report.
  const ReplaySummary* replay_of(const Load& load) const {
    if (!load.replay || !replays[*load.replay].report) return nullptr;
    return &*replays[*load.replay].report;
  }
  /// Requests that the archive could not answer: "GET https://a.test/".
  std::set<std::string> missed_requests() const;
};

}  // namespace reprise
