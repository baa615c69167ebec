#pragma once

// How a budget of time is spent on the cells of a measurement: the same number of loads of each
// first, then the rest where it lowers the standard errors of the load events most
// (analysis/allotment/README.md). Pure.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "analysis/allotment/allotment.h"
#include "tools/load/load_matrix.h"

namespace reprise {

/// "90s", "10m", "1h": a budget.
std::optional<std::chrono::seconds> parse_budget(const std::string& text);

/// Why a budget pays for no loads after the first ones.
enum class NoMoreLoads {
  kNothingKnown,  ///< of no cell do two loads count
  kTimeIsUp,      ///< what is left pays for no load of any cell
  kAllAlike,      ///< no cell varies, of those of which two loads count
  kTooLong,       ///< what is left pays for no load of a cell that varies
};

class LoadBudget {
 public:
  /// Loads of each cell before their number is decided, if nothing else is said.
  static constexpr unsigned kPilot = 5;
  /// At least: one load does not tell what varies.
  static constexpr unsigned kPilotMin = 2;

  explicit LoadBudget(std::size_t cells) : cells_(cells) {}

  /// A load of `cell` took `seconds`, with all that belongs to it. It has no load event if it
  /// failed or warmed up: then it does not count.
  void add(std::size_t cell, double seconds, std::optional<double> load_event_ms);

  /// The loads that `seconds_left` pay for, as far as known now. They begin with run `first_run`,
  /// in rounds that have every cell that gets more, each in its own random order. Cells that do not
  /// vary, or of which fewer than two loads count, get none.
  std::vector<PlannedLoad> rest(double seconds_left, unsigned first_run, std::uint64_t seed) const;
  /// Why rest() has no loads for that time.
  NoMoreLoads why_none(double seconds_left) const;

  /// What the loads of `cell` are expected to take.
  double seconds_of(std::size_t cell) const;

  /// The sum of the cells' standard errors, in ms, and what an even split of the same time would
  /// have come to. Nothing without two loads of each cell that count.
  std::optional<AllotmentGain> standard_errors() const;

 private:
  struct Cell {
    std::vector<double> load_events_ms;
    double seconds = 0;
    std::size_t loads = 0;
  };

  std::vector<AllotmentArm> arms() const;
  std::vector<std::size_t> counted() const;

  std::vector<Cell> cells_;
};

}  // namespace reprise
