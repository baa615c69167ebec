#pragma once

// What `reprise advise` found. Pure.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/advice/candidates.h"
#include "analysis/advice/page_losses.h"
#include "analysis/comparison.h"
#include "analysis/lost_loads.h"
#include "analysis/prediction/prediction.h"

namespace reprise {

/// Of the intervals of PredictedQuantile, where there are rows enough.
inline constexpr double kPredictedLevel = .95;

/// A change with what it was measured to save.
struct MeasuredChange {
  std::vector<ChangeCandidate> candidates;     ///< several: made together
  std::size_t side = 0;                        ///< of the experiment
  Comparison comparison;                       ///< with the page as recorded, of one metric
  std::optional<PredictedQuantile> predicted;  ///< the median of that metric
  std::string not_predicted;                   ///< why not; a sentence
  PageLosses losses;
  double level = .95;  ///< of the interval of its shift

  /// Nothing if it could not be compared.
  const ComparedMetric* saving() const;
  /// Whether it was shown to make the page faster.
  bool is_faster() const;
  /// Whether it was shown that more loads fail with it.
  bool fails_more() const;
  /// Whether the page is faster, and still does all that it did.
  bool helps() const { return is_faster() && losses.empty() && !fails_more(); }
  /// What a third party costs is no reason to do without it.
  bool is_of_third_party() const { return candidates.front().kind == "third party"; }
  bool is_advised() const { return helps() && !is_of_third_party(); }
  /// Whether more loads could show that it helps.
  bool is_undecided() const;
  /// "saves", "breaks the page", "costs", "no effect", "undecided" or "not compared".
  const char* verdict() const;
  /// What to do, or "3 together".
  std::string title() const;
};

/// A change that helps alone, and that the combination does without.
struct LeftOut {
  ChangeCandidate candidate;
  std::string why;  ///< what it was measured to do to the combination, or why it was not tried
  bool is_measured = false;
};

/// A change that was not measured.
struct UntriedChange {
  ChangeCandidate candidate;
  std::optional<PredictedQuantile> predicted;  ///< the median of the metric
  std::string why;                             ///< a sentence
};

/// Changes that could help, and for which there was no place.
struct BeyondCandidates {
  std::size_t changes = 0;
  std::optional<double> best_saving_us;  ///< predicted; nothing if that of none is
  std::size_t candidates = 0;            ///< the limit
  std::size_t enough = 0;                ///< a limit that is enough, as far as one is allowed
};

struct Advice {
  /// What is advised, the best first, then third parties that cost time, then the others.
  std::vector<MeasuredChange> changes;
  /// The best one with those others that make it faster still; nothing if none does.
  std::optional<MeasuredChange> together;
  std::vector<LeftOut> left_out;
  std::vector<UntriedChange> not_tried;  ///< in the order in which they would have been measured
  LostLoads lost;  ///< of all loads: those that the page is learnt from, and those of each side
  /// A budget with which the changes would all have been tried that this one was too short for;
  /// nothing if it was long enough.
  std::optional<std::chrono::minutes> budget_for_all;
  /// One that should decide about the undecided changes that seem to save something, as far as so
  /// many loads are allowed; nothing if there are no such changes.
  std::optional<std::chrono::minutes> budget_to_decide;
  std::optional<BeyondCandidates> beyond;  ///< these are among `not_tried`, too
  double alpha = .05;                      ///< of all changes together

  /// Sorts the changes.
  void sort();
  /// What helps most: those together if they help, otherwise the first of sorted changes if it is
  /// advised. Null: nothing.
  const MeasuredChange* best() const;
};

}  // namespace reprise
