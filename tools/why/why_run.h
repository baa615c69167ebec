#pragma once

// Why is B slower than A? Measures what each difference of two archives costs, by loads of hybrids
// with a random half of them (analysis/effects/, hybrid.h).

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/comparison.h"
#include "analysis/differences/differences.h"
#include "analysis/effects/cause_search.h"
#include "analysis/repeats.h"
#include "tools/experiment/experiment.h"
#include "tools/why/aligned_rows.h"
#include "tools/why/hybrid.h"
#include "tools/why/server_traces.h"

namespace reprise {

/// One or several groups of differences, with what they cost.
struct Cause {
  std::vector<std::size_t> groups;  ///< in Differences::groups
  std::size_t part = 0;             ///< of the search
  EstimatedEffect effect;
  std::vector<std::size_t> rows;  ///< in WhyRun::aligned_rows(), the most telling first
};

/// Two causes that act on each other.
struct CausePair {
  std::size_t first = 0;  ///< in WhyRun::causes()
  std::size_t second = 0;
  EstimatedEffect effect;  ///< what both cost together, less what each costs without the other
};

struct WhyOptions {
  CompareOptions compare;            ///< of one metric
  std::vector<std::string> words_a;  ///< arguments of `reprise load`
  std::vector<std::string> words_b;
  double median_a = 0;  ///< of the metric; 0: not known before the comparison
  /// B - A and the loads a side of the gate that found B different; 0 loads: not known before the
  /// comparison.
  double gate_shift = 0;
  std::size_t gate_loads = 0;
  std::size_t most_loads = 240;  ///< of A, B and hybrids together, after the comparison
  std::chrono::seconds budget{1200};
  std::string budget_option = "--budget";  ///< that sets it, for messages
  std::uint64_t seed = 1;
  std::filesystem::path folder;  ///< for the results; empty: none
  std::filesystem::path page;    ///< an HTML file; empty: none
};

/// What a cause must cost to matter, more than zero, in the unit of the metric.
double least_cause(const WhyOptions& options);

/// Why a side with several pages or configurations is refused.
inline constexpr const char* kOneCell =
    "why takes one page under one configuration; give one URL, browser, protocol, link and cache";

class WhyRun {
 public:
  explicit WhyRun(WhyOptions options);
  ~WhyRun();
  WhyRun(const WhyRun&) = delete;
  WhyRun& operator=(const WhyRun&) = delete;

  /// Finds the differences of the two archives. An exit code if they cannot be compared, or
  /// do not differ (kExitDone); the reason was printed.
  std::optional<int> find_differences();
  /// Loads A and B in turn until it is known whether B differs, as `gate`. An exit code if it does
  /// not, which was printed.
  std::optional<int> compare_sides(std::size_t most_runs);
  /// Takes over what a gate has found instead: what the loads of a side miss, hybrids can miss,
  /// too.
  void allow_misses_of(const LoadResult& side);
  /// Measures hybrids until the causes are known, or the budget is over. An exit code if a hybrid
  /// cannot be served, if the machine is too busy, or if it is interrupted before anything is
  /// known.
  std::optional<int> find_causes();

  const WhyOptions& options() const { return options_; }
  /// The file of A's or B's archive, as given.
  const std::string& name(std::size_t side) const { return names_[side]; }
  /// What the servers of A or B say that they did (server_traces.h).
  ServerTraces traces(std::size_t side) const;
  const Differences& differences() const { return differences_; }
  const Effects& effects() const { return *effects_; }
  /// Those that are shown to cost something; the one that explains most comes first.
  const std::vector<Cause>& causes() const { return causes_; }
  /// Those that are shown to act on each other.
  const std::vector<CausePair>& pairs() const { return pairs_; }
  /// Measured, without an effect that could be shown.
  const std::vector<Cause>& others() const { return others_; }
  /// The waterfalls of A and B: medians of the loads that count.
  const AlignedRows& aligned_rows() const { return *aligned_; }
  /// Groups that a replay of A cannot have.
  std::vector<std::size_t> not_measured() const;

  /// The loads of A, B and hybrids, in order, and what was put in each.
  struct MeasuredRow {
    EffectRow row;  ///< `in` is by candidates()
    bool counts = true;
  };
  const LoadResult& loads() const { return loads_; }
  const std::vector<MeasuredRow>& rows() const { return rows_; }
  /// The groups that were measured: numbers in Differences::groups.
  const std::vector<std::size_t>& candidates() const { return candidates_; }
  /// Whether the user ended it before the causes were known, or the budget was over.
  bool interrupted() const { return interrupted_; }
  /// Whether all files could be written.
  bool kept() const { return kept_; }

 private:
  struct Archives;
  enum class Loaded { kCounts, kDisturbed, kFailed };

  std::optional<int> check_first_loads(Experiment& experiment);
  std::optional<int> check_misses(const LoadResult& result, const EffectRow& row);
  std::expected<ExperimentSide, int> side_of(const EffectRow& row);
  std::expected<Loaded, int> load(EffectRow& row);
  std::optional<int> run_round(CauseSearch& search);
  /// One more load of A or B, or a disturbed one of a hybrid, is repeated. An exit code if too many
  /// were, which was printed: the machine disturbs them, or that side fails.
  std::optional<int> count_repeat(const EffectRow& row, Loaded end, std::size_t counted_rows);
  void rank(const std::vector<CausePart>& parts);
  void align_rows();
  std::string names_of(const EffectRow& row) const;
  /// Whether some of B's differences were put into A.
  static bool is_hybrid(const EffectRow& row);
  bool time_is_up() const { return std::chrono::steady_clock::now() >= ends_; }
  bool no_more_loads() const { return time_is_up() || rows_.size() >= options_.most_loads; }

  WhyOptions options_;
  std::chrono::steady_clock::time_point ends_;
  std::unique_ptr<Archives> archives_;
  std::array<std::string, 2> names_;
  Differences differences_;
  std::vector<std::size_t> candidates_;
  std::set<std::string> known_misses_;
  LoadResult loads_;
  std::vector<MeasuredRow> rows_;
  std::shared_ptr<SaidOnce> said_ = std::make_shared<SaidOnce>();
  UsualSteal steal_;
  DisturbedRepeats repeats_;
  std::array<DisturbedRepeats, 2> failures_;  ///< loads of A, and of B, that failed
  std::optional<Effects> effects_;
  std::optional<AlignedRows> aligned_;
  std::vector<Cause> causes_;
  std::vector<Cause> others_;
  std::vector<CausePair> pairs_;
  bool interrupted_ = false;
  bool kept_ = true;
};

}  // namespace reprise
