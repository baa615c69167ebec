#pragma once

// Two results side by side: which loads belong together, whether they can be compared at all, and
// what comes of it. Pure.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/load_groups.h"
#include "analysis/measurements.h"
#include "analysis/verdict.h"

namespace reprise {

struct CompareOptions {
  /// Over all pages and metrics together. The tests of failed loads, of all pages together, have
  /// as much once more: what is the same is called different with a probability of at most twice
  /// this, or of this where no load fails. `all_failed_differ` is a rule, no test: it comes on top.
  double alpha = 0.05;
  std::vector<std::size_t> metrics;             ///< indices into kMetrics; empty: all
  double least_relative = 0.01;                 ///< of A's median
  std::optional<MinimumEffect> least_of_times;  ///< instead, in ms; none: each metric's own
  std::set<Mismatch> allowed;                   ///< what is the question
  LevelOf level_of = [](double alpha) { return alpha; };
  /// Loads that all failed on one side, and none on the other, are a difference however few they
  /// are. Not at a gate's looks: a page can fail by chance, and more loads tell.
  bool all_failed_differ = true;
};

/// Which loads a comparison counts: not those that were disturbed by more than the least effect
/// that it looks for, on the first of its metrics that is a time.
CountedLoads counted_loads(const CompareOptions& options);

/// Those that are asked for, or all.
std::vector<std::size_t> metrics_of(const CompareOptions& options);
MinimumEffect minimum_effect(const CompareOptions& options, std::size_t metric);

struct ComparedMetric {
  std::size_t metric = 0;  ///< index into kMetrics
  Finding finding;
};

/// One page under one pair of conditions.
struct ComparedPage {
  LoadGroup a, b;
  /// One side has more loads that failed than chance would give it (Fisher's exact test), or all of
  /// its loads failed and none of the other's (if CompareOptions::all_failed_differ): B is
  /// different, whatever the times of others are.
  bool failures_differ = false;
  /// Loads that count and are compared with none (unpaired_loads()), if both sides have some.
  std::size_t unpaired = 0;
  /// So many loads failed that the others do not show that A and B are the same.
  bool few_count = false;
  /// Without those that no load of either side has.
  std::vector<ComparedMetric> metrics;
};

/// Why there is no comparison.
struct Refusal {
  Mismatch difference;
  std::string text;            ///< a sentence
  bool may_pass = false;       ///< after more loads it may no longer apply
  bool may_be_allowed = true;  ///< CompareOptions::allowed can permit the comparison
  auto operator<=>(const Refusal&) const = default;
};

struct Comparison {
  std::vector<Refusal> refusals;  ///< when there are any, there is nothing else
  std::vector<std::string> remarks;
  std::vector<ComparedPage> pages;
  Verdict verdict = Verdict::kUndecided;
  /// The level at which the first of its metrics is tested (Holm): a larger p shows nothing.
  double first_level = 0;
};

Comparison compare(const Measurements& a, const Measurements& b, const CompareOptions& options);

/// Those of compare() that pages and conditions alone tell, so also of groups without loads.
std::set<Refusal> refusals_of(const Pairing& pairing);

/// A sentence for each setting in which the loads of A and B differ.
std::vector<std::string> setting_remarks(const Measurements& a, const Measurements& b);

/// Whether it was shown that more loads of B fail.
bool fails_more(const ComparedPage& page);
/// Whether it was shown that B is worse in anything: more loads fail, or a metric is larger.
bool is_worse(const Comparison& comparison);
/// Whether it is still open whether B is worse: a metric is undecided, or a page has no metrics or
/// too few loads that did not fail.
bool has_undecided(const Comparison& comparison);
/// Whether more loads can change that: something undecided has values, or may still get some.
bool can_be_decided(const Comparison& comparison);

}  // namespace reprise
