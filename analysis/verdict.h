#pragma once

// Same, different or undecided: judges samples of several metrics together. Pure.

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/blocks.h"
#include "analysis/rank_test.h"
#include "analysis/shift.h"

namespace reprise {

/// The smallest difference that matters: the larger of the two.
struct MinimumEffect {
  double relative = 0;  ///< of A's median
  double absolute = 0;  ///< in the metric's unit

  /// In the metric's unit.
  double of(double median) const;
};

/// One metric's values.
struct Samples {
  std::vector<double> a, b;
  MinimumEffect least;
  /// The same values by the machine that measured them, or by what was lost on the way, when that
  /// is known: then values of different blocks are not compared.
  std::vector<Block> blocks;
};

enum class Verdict { kSame, kDifferent, kUndecided };
std::string_view to_string(Verdict verdict);

struct Finding {
  std::size_t of_a = 0;  ///< number of values
  std::size_t of_b = 0;
  double median_a = 0;
  double median_b = 0;
  Shift shift;                ///< with the interval at the level of this look; if is_compared()
  double minimum_effect = 0;  ///< from `least`, in the metric's unit
  /// Values a side of the largest block; 0: all are compared with each other.
  std::size_t of_block = 0;
  /// Pairs of values of A and B that were compared with each other, of the same block if there are
  /// blocks.
  std::size_t pairs = 0;
  RankTest rank;
  double holm_p = 1;  ///< rank.p, adjusted for the number of metrics (Holm, 1979)
  /// different: significant, over all metrics and looks together, and the estimate reaches the
  /// minimum effect. same: the interval is within the minimum effect. Without pairs it is
  /// undecided.
  Verdict verdict = Verdict::kUndecided;

  /// Otherwise `shift` and `rank` tell nothing.
  bool is_compared() const { return pairs > 0; }
};

/// The level for this look's test, if all looks together may use `alpha`.
using LevelOf = std::function<double(double alpha)>;

/// Judges all metrics together: the probability of calling any equal metric different is at most
/// `alpha`. Holm's procedure; `level_of` gives the level of each step.
std::vector<Finding> judge(std::span<const Samples> metrics, double alpha, const LevelOf& level_of);

/// The loads a side from which on the exact rank test can reach that level at all: if no load of
/// one side is as long as any of the other. `block_loads`: see smallest_p().
std::size_t least_loads(double level, std::size_t block_loads = 0);

/// Different if any finding is, same if all are; undecided without findings.
Verdict verdict_of(std::span<const Finding> findings);

double median(std::span<const double> values);              ///< 0 of none
double standard_deviation(std::span<const double> values);  ///< of a sample; 0 of one

/// When a gate looks, in loads per side, and at which levels. Not thread-safe (it caches levels).
class Looks {
 public:
  /// A look after every `every` loads up to `most` (both at least 1), the last at `most`; fewer
  /// looks if there would be more than kLooksMax.
  Looks(std::size_t every, std::size_t most);

  const std::vector<std::size_t>& at() const { return at_; }
  /// The look with this number is the last one, after `loads`, more than at the look before it and
  /// at most `most`: it has all of alpha that is left. Only for a reason that is the
  /// same with A and B exchanged, such as a clock.
  void end_with(std::size_t look, std::size_t loads);
  /// For judge() at the look with this number, from 0.
  double level(std::size_t look, double alpha);

 private:
  std::vector<std::size_t> at_;
  std::size_t most_;
  bool ends_early_ = false;
  std::map<double, std::vector<double>> levels_;
};

}  // namespace reprise
