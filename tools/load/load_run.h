#pragma once

// One load of one page under one configuration, by processes of its own: a replay and, inside it, a
// browser with a new profile. What `reprise load` repeats and `reprise gate` compares.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pageload/results/load_result.h"

namespace reprise {

/// What all loads of one measurement have in common.
struct LoadSetup {
  std::filesystem::path archive;              ///< empty: live, without a replay
  std::vector<std::string> replay_arguments;  ///< of `replay`, but for protocol and link
  std::vector<std::string> link_arguments;    ///< the same, where there is a link
  bool packets = false;  ///< without a link, too, by the link "none" (--shaper packet)
  std::vector<std::string> browsing_arguments;  ///< BrowsingOptions::arguments()
  std::chrono::seconds time_limit{600};         ///< for all of one load, replay and browser
  std::filesystem::path program = "/proc/self/exe";
};

/// LoadSetup::time_limit for pages that may take `timeout`: twice that for a warm cache, and time
/// to start and to read out for slow machines.
constexpr std::chrono::seconds load_time_limit(std::chrono::seconds timeout) {
  return 2 * timeout + std::chrono::seconds(300);
}

struct MeasuredLoad {
  std::optional<PageLoad> page;  ///< none: exit_code says why
  LoadResult::Browser browser;
  std::optional<ReplayRun> replay;  ///< none when live
  /// kExitDone, or what the replay ended with: without a page it could not serve, and the next
  /// load will not fare better.
  int exit_code = 0;
  std::string messages;  ///< the replay's lines for people
};

/// Blocking; ends early, without a page and with Interruption::exit_code(), once
/// Interruption::was_asked(). `name` is that of the files that are asked for (screenshot, ...).
/// Nothing of it is left running or on disk, however this process ends.
MeasuredLoad measure_load(const LoadSetup& setup, const LoadConfiguration& configuration,
                          const std::string& url, const std::string& name);

/// `reprise record` of these pages; returns its exit code, or that of an interruption.
int record_pages(const std::filesystem::path& archive, const std::vector<std::string>& flags,
                 const std::vector<std::string>& urls);

/// Puts a load with a page into a result.
void add_load(LoadResult& result, MeasuredLoad&& measured, const LoadConfiguration& configuration,
              unsigned run, bool warm_up);

}  // namespace reprise
