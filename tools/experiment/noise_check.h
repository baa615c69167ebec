#pragma once

// Before a gate: what the loads of its pages vary by on this machine, and so how many it will need.

#include <boost/json/object.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "analysis/gate.h"
#include "analysis/lost_loads.h"
#include "tools/experiment/experiment.h"
#include "tools/experiment/noise_store.h"

namespace reprise {

/// Why the noise of a page is unknown after so many loads: "2 of 8 loads count, at least 4 are
/// needed; 6 loads were disturbed, the first one: ...", with the way out; without disturbed loads
/// "...; the first one that failed: ...". Untrusted text.
std::string unknown_noise_text(const LostLoads& loads);

/// The noise of each page and configuration of one side. Knows it from earlier gates, or measures
/// it (A against A).
class NoiseCheck {
 public:
  /// Loads that measure it, beside one that warms up.
  static constexpr std::size_t kLoads = 8;
  /// Of a page and configuration: its noise is unknown if fewer count.
  static constexpr std::size_t kLoadsMin = kLoads / 2;

  NoiseCheck(const GateOptions& options, NoiseStore store)
      : options_(options), store_(std::move(store)) {}

  /// Whether the noise of all of them is known.
  bool look_up(const LoadResult& result, const std::vector<LoadCell>& cells,
               std::chrono::sys_seconds now);
  /// Loads `side` kLoads times, or until the time is `ends`, or too many were disturbed. Then the
  /// noise is known of cells with at least kLoadsMin loads that count, if any of these has a
  /// compared metric, and is kept for later gates.
  /// False if it cannot be loaded: exit_code().
  bool measure(ExperimentSide side, std::chrono::sys_seconds now,
               std::chrono::steady_clock::time_point ends);
  int exit_code() const { return exit_code_; }

  /// Keeps what a gate's loads of a side varied by. Loading all of `cells` once took
  /// `side_seconds`.
  void keep(const LoadResult& result, const std::vector<LoadCell>& cells, double side_seconds,
            std::chrono::sys_seconds now);

  /// A line for each page: what its loads vary by, and how many loads and minutes some effects
  /// need; also whether that is more than `budget`, the time that is left. Or why its noise is
  /// still unknown after measure().
  std::string text(std::chrono::seconds budget = std::chrono::seconds::max()) const;
  boost::json::array json() const;

 private:
  struct Page {
    LoadCell cell;
    KnownNoise noise;
  };

  /// Of the cells that were loaded often enough, and have a value of a compared metric.
  std::vector<Page> noise_of(const LoadResult& result, const std::vector<LoadCell>& cells,
                             double side_seconds, std::chrono::sys_seconds now) const;

  GateOptions options_;
  NoiseStore store_;
  std::vector<Page> pages_;
  std::string unknown_;  ///< lines
  int exit_code_ = 0;
};

}  // namespace reprise
