#pragma once

// One load of one page under one configuration, by processes of its own: a replay and, inside it, a
// browser with a new profile. What `reprise load` repeats and `reprise gate` compares.

#include <chrono>
#include <filesystem>
#include <functional>
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
  std::vector<std::string> browsing_arguments;  ///< of `load-page`
  std::chrono::seconds time_limit{600};         ///< for all of one load, replay and browser
  std::filesystem::path program = "/proc/self/exe";
  /// Before other programs, where permitted (favour_process()), and so is the thread that measures
  /// it (ThreadPriority).
  bool favoured = true;
  /// Whether the measurement is to end now; asked 50 times a second, by the same thread.
  std::function<bool()> stop = [] { return false; };
};

/// LoadSetup::time_limit for pages without steps that may take `timeout`: twice that for a warm
/// cache, and time to start and to read out for slow machines.
constexpr std::chrono::seconds load_time_limit(std::chrono::seconds timeout) {
  return 2 * timeout + std::chrono::seconds(300);
}

enum class LoadEnd {
  kLoaded,       ///< the page did
  kNotLoaded,    ///< it did not: PageLoad::outcome and failure say why
  kNotServed,    ///< the processes left no page: exit_code says why
  kNotStarted,   ///< there is no folder or process for it
  kInterrupted,  ///< LoadSetup::stop() was true
};

struct MeasuredLoad {
  LoadEnd end = LoadEnd::kNotStarted;
  std::optional<PageLoad> page;  ///< of kLoaded and kNotLoaded alone
  LoadResult::Browser browser;
  std::optional<ReplayRun> replay;  ///< none when live
  /// What the replay, when live the page's process, ended with; 1 if it was killed. 0 for a page
  /// that took too long: the next load may be faster.
  int exit_code = 0;
  std::string messages;  ///< the replay's lines for people
};

/// Blocking; ends early once `setup.stop()` is true. `name` is that of the files that are asked for
/// (screenshot, ...). Nothing of it is left running or on disk, however this process ends.
MeasuredLoad measure_load(const LoadSetup& setup, const LoadConfiguration& configuration,
                          const std::string& url, const std::string& name);

/// Puts a load, if it has a page, and its replay into a result.
void add_load(LoadResult& result, MeasuredLoad&& measured, const LoadConfiguration& configuration,
              unsigned run, bool warm_up);

/// Moves the last load of `from`, which must have one, and its replay to the end of `to`. `from`
/// keeps an empty replay for it: the others keep their numbers.
void move_last_load(LoadResult& from, LoadResult& to);

}  // namespace reprise
