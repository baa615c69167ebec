#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pageload/run/load_run.h"
#include "tools/load/browsing_options.h"
#include "tools/load/load_budget.h"
#include "tools/load/load_matrix.h"
#include "tools/serve/what_if.h"

namespace CLI {
class App;
}

namespace reprise {

/// The command line of `reprise load`, and of each side of `reprise gate`.
struct LoadOptions {
  std::vector<std::string> arguments;  ///< ARCHIVE URL..., or URL... with --live or --record-to
  bool live = false;
  std::filesystem::path record_to;
  std::vector<std::string> record_flags;
  std::optional<unsigned> runs;
  std::string budget;  ///< a time for all loads; empty: `runs` of each
  std::optional<unsigned> warm_ups;
  std::optional<std::uint64_t> seed;
  std::filesystem::path output;
  std::filesystem::path har_folder;
  std::vector<std::string> browsers, protocols, links, caches;  ///< each can be a list A,B
  BrowsingOptions browsing;
  std::map<std::string, std::vector<std::string>> replay_values;  ///< by option, as given
  std::map<std::string, bool> replay_switches;
  std::vector<std::string> replay_flags;
  std::string shaper;
  std::vector<std::string> what_ifs;

  /// `command` keeps references to this object.
  void add_to(CLI::App& command);

  /// The archive or folder of archives; empty if live.
  std::filesystem::path archive() const;
  std::vector<std::string> urls() const;
  /// Why one of the browsers cannot be started: a sentence; empty if all can.
  std::string check_browsers() const;
  /// For one archive; `urls` are the pages, of which repeats are dropped. The error is a sentence.
  std::expected<std::vector<LoadCell>, std::string> cells(
      const std::vector<std::string>& urls) const;
  /// Those of the replays that change what a page gets, sorted; nothing if live.
  std::optional<std::vector<std::string>> replay_options() const;
  /// Options that were given and that only links obey, if there is no link.
  std::vector<std::string> options_without_effect() const;
  /// Creates the folders for the files about each load, and checks that files can be created in
  /// them. The error is a sentence.
  std::expected<void, std::string> make_folders() const;
  /// For the replays of all loads.
  WhatIfOptions what_if() const;
  /// Its loads end once Interruption::was_asked(). `archive` is empty if live.
  LoadSetup setup(const WhatIfArchive& archive) const;
  /// Of each cell; with a budget the first ones, which tell what varies.
  unsigned runs_of_each() const {
    if (budget.empty()) return runs.value_or(1);
    return std::max(runs.value_or(LoadBudget::kPilot), LoadBudget::kPilotMin);
  }
  unsigned warm_up_loads() const { return warm_ups.value_or(runs_of_each() > 1 ? 1 : 0); }
};

}  // namespace reprise
