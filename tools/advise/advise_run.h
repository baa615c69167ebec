#pragma once

// Measures changes of a page against the page as recorded, all in one interleaved experiment.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/advice/candidates.h"
#include "analysis/advice/page_losses.h"
#include "analysis/comparison.h"
#include "tools/experiment/experiment.h"
#include "tools/predict/learnt_page.h"

namespace reprise {

/// A change with what it was measured to save.
struct MeasuredChange {
  std::vector<ChangeCandidate> candidates;     ///< several: made together
  std::size_t side = 0;                        ///< of the experiment
  Comparison comparison;                       ///< with the page as recorded, of one metric
  std::optional<PredictedQuantile> predicted;  ///< the median of that metric
  std::string not_predicted;                   ///< why not; a sentence
  PageLosses losses;

  /// Nothing if it could not be compared.
  const ComparedMetric* saving() const;
  /// Whether it was shown to make the page faster.
  bool is_faster() const;
  /// And the page still does all that it did.
  bool helps() const { return is_faster() && losses.empty(); }
  /// What a third party costs is no reason to do without it.
  bool is_of_third_party() const { return candidates.front().kind == "third party"; }
  bool is_advised() const { return helps() && !is_of_third_party(); }
};

/// A change that was not measured.
struct UntriedChange {
  ChangeCandidate candidate;
  std::optional<PredictedQuantile> predicted;  ///< the median of the metric
  std::string why;                             ///< a sentence
};

struct AdviseOptions {
  CompareOptions compare;  ///< of one metric; its alpha is that of all changes together
  std::size_t candidates = 6;
  std::size_t most_runs = 100;  ///< loads of each side
  bool images = true;
  std::chrono::seconds budget{600};
  std::uint64_t seed = 1;
  std::vector<std::string> words;  ///< arguments of `reprise load`
  std::filesystem::path traces;    ///< a folder for those of the loads that are predicted from
};

class AdviseRun {
 public:
  /// Loads of each side before the rest of the budget is allotted by what they vary by: as few as
  /// can show a difference among several changes.
  static constexpr std::size_t kPilot = 6;
  /// Loads from which the page is learnt, and candidates are found and predicted. They are traced,
  /// and therefore slower, and no part of the comparison.
  static constexpr std::size_t kWatched = 4;

  explicit AdviseRun(AdviseOptions options) : options_(std::move(options)) {}

  /// Finds candidates, measures them, and those that help together. Tells progress. An exit code if
  /// the page cannot be loaded, or after an interruption; what was measured so far stays.
  std::optional<int> run();

  /// The best first.
  const std::vector<MeasuredChange>& changes() const { return changes_; }
  /// Those that help, together; nothing if there are fewer than two.
  const std::optional<MeasuredChange>& together() const { return together_; }
  /// In the order in which they would have been measured.
  const std::vector<UntriedChange>& not_tried() const { return not_tried_; }
  /// A budget with which the changes would all have been tried that this one was too short for;
  /// nothing if it was long enough.
  std::optional<std::chrono::minutes> budget_for_all() const { return budget_for_all_; }
  /// A budget that should decide about the undecided changes that seem to save something, as far as
  /// so many loads are allowed; nothing if there are no such changes.
  std::optional<std::chrono::minutes> budget_to_decide() const;
  /// After run() found a page.
  const Experiment& experiment() const { return *experiment_; }
  const LearntPage& page() const { return page_; }

 private:
  /// A change that could be measured.
  struct Tried {
    MeasuredChange change;
    ExperimentSide side;
  };

  std::optional<int> watch();
  /// The changes that could be measured, the one that promises most first.
  std::vector<Tried> ranked();
  void not_measure(MeasuredChange change, std::string why);
  std::optional<int> find();
  std::optional<int> pilot();
  std::optional<int> measure();
  std::optional<int> measure_together();
  /// Loads these sides once, in this order. A disturbed load is made again at once, some times at
  /// most: a whole round is too long to be quiet, and no page can raise what disturbs it. False:
  /// exit_code().
  bool round(const std::vector<std::size_t>& sides);
  /// Compares a change with the page as recorded.
  void judge(MeasuredChange& change, double alpha) const;
  double seconds_left() const {
    return std::chrono::duration<double>(ends_ - std::chrono::steady_clock::now()).count();
  }
  bool time_is_up() const { return std::chrono::steady_clock::now() >= ends_; }
  /// What it takes at least to measure so many changes beside the page as recorded: each is loaded
  /// kPilot times, and once to warm up.
  double seconds_of(std::size_t changes) const;
  int stopped(const Experiment& experiment) const;
  /// Sets what a side is predicted to save.
  void predict(const ExperimentSide& side, MeasuredChange& change) const;

  AdviseOptions options_;
  std::chrono::steady_clock::time_point ends_;
  std::optional<Experiment> watched_;
  LearntPage page_;
  std::optional<Experiment> experiment_;
  std::vector<MeasuredChange> changes_;
  std::optional<MeasuredChange> together_;
  std::vector<UntriedChange> not_tried_;
  std::optional<std::chrono::minutes> budget_for_all_;
  double load_seconds_ = 0;
  std::size_t rounds_ = 0;
};

}  // namespace reprise
