#pragma once

// Interleaved loads that answer a question: what the sides have in common changes for all of them
// alike (`reprise gate`; measured what-ifs, advice and causes build on it).

#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/comparison.h"
#include "analysis/measurements.h"
#include "tools/experiment/experiment_side.h"

namespace reprise {

/// Loads its sides in whatever order it is asked for, and prints progress. Which order answers the
/// question is the caller's choice (analysis/gate.h).
class Experiment {
 public:
  /// At most `most_runs` loads of each side will be asked for, beside the first, which warms up. 0:
  /// unknown, and the caller prints progress.
  Experiment(std::vector<ExperimentSide> sides, std::size_t most_runs)
      : sides_(std::move(sides)), most_runs_(most_runs) {
    for (std::size_t side = 1; side < sides_.size(); ++side) name_files(side);
  }

  /// Its time is up then, for the progress that is printed.
  void end_by(std::chrono::steady_clock::time_point ends) { ends_ = ends; }

  /// Loads every page of that side once. False if nothing can be measured any more: exit_code().
  bool load(std::size_t side, std::size_t run);

  /// Whether something disturbed a load of that run, and why; all its loads, on all sides, are then
  /// skipped in what was measured, and can be made again in the same run. Empty: they count,
  /// whatever else is loaded later. The usual steal is that of all other loads so far, with the
  /// warm-ups.
  std::string count_or_skip(std::size_t run, const CountedLoads& counted);
  /// The same for the pages that this side loaded last, alone: they can be loaded again in the same
  /// run.
  std::string count_or_skip_last(std::size_t side, const CountedLoads& counted);

  /// One side more; its number.
  std::size_t add(ExperimentSide side) {
    sides_.push_back(std::move(side));
    if (sides_.size() > 1) name_files(sides_.size() - 1);
    return sides_.size() - 1;
  }

  std::size_t sides() const { return sides_.size(); }
  const ExperimentSide& side(std::size_t side) const { return sides_[side]; }
  ExperimentSide& side(std::size_t side) { return sides_[side]; }
  /// What was loaded of that side from that run on, as `reprise compare` would read it; but what
  /// count_or_skip() has let pass counts.
  Measurements measured(std::size_t side, std::size_t first_run = 0) const;
  /// What loading all pages of a side took, on average; not a number before the first load().
  double load_seconds() const {
    return std::chrono::duration<double>(spent_).count() / static_cast<double>(loads_);
  }
  /// How many times a side was loaded.
  std::size_t loads() const { return loads_; }
  /// Of what made load() false.
  int exit_code() const { return exit_code_; }

 private:
  struct OfSide {
    const ExperimentSide* side;
    LoadResult::Load* load;
  };
  std::string skip_if_disturbed(std::span<const OfSide> loads, CountedLoads counted);
  void print_progress(std::size_t run) const;
  /// Sides can have the same folder for their traces. One with a name keeps it.
  void name_files(std::size_t side) {
    if (!sides_[side].has_file_name()) sides_[side].name_files("side-" + std::to_string(side + 1));
  }

  std::vector<ExperimentSide> sides_;
  std::set<std::size_t> undisturbed_;  ///< runs
  std::size_t most_runs_;
  std::chrono::steady_clock::time_point ends_ = std::chrono::steady_clock::time_point::max();
  std::chrono::steady_clock::duration spent_{};
  std::size_t loads_ = 0;
  int exit_code_ = 1;
};

/// After which an experiment ends at the latest: what its loads take, or what its budget has left,
/// if that is less. Not below 0.
std::chrono::seconds most_time_left(std::chrono::steady_clock::duration loads,
                                    std::chrono::steady_clock::duration budget);

/// Prints that something disturbed `what` ("run 3", "a load"), which is loaded again, and why.
void print_repeat(const std::string& what, const std::string& why);

/// Writes a file of an experiment; no folder: nothing. Prints why it could not; false then.
bool keep_file(const std::filesystem::path& folder, const char* name,
               const boost::json::object& object);

}  // namespace reprise
