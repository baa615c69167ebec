#pragma once

// Same, different or undecided: what samples of several metrics, judged together, say. Pure.

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/rank_test.h"
#include "analysis/shift.h"

namespace reprise {

/// The least difference that matters: the larger of the two.
struct MinimumEffect {
  double relative = 0;  ///< of A's median
  double absolute = 0;  ///< in the metric's unit
};

/// One metric's values.
struct Samples {
  std::vector<double> a, b;
  MinimumEffect least;
};

enum class Verdict { kSame, kDifferent, kUndecided };
std::string_view to_string(Verdict verdict);

struct Finding {
  std::size_t of_a = 0;  ///< values
  std::size_t of_b = 0;
  double median_a = 0;
  double median_b = 0;
  Shift shift;                ///< with the interval at the level of this look
  double minimum_effect = 0;  ///< what `least` came to, in the metric's unit
  RankTest rank;
  double holm_p = 1;  ///< rank.p, adjusted for the number of metrics (Holm, 1979)
  /// different: significant, over all metrics and looks together, and the estimate reaches the
  /// least effect. same: the interval lies within the least effect. An empty sample is undecided.
  Verdict verdict = Verdict::kUndecided;
};

/// The level at which this look may test what may be tested at `alpha` in all.
using LevelOf = std::function<double(double alpha)>;

/// Judges all metrics together: at most `alpha` is the chance to call any metric different that is
/// not. Holm's procedure; the levels of each step are those that `level_of` allows.
std::vector<Finding> judge(std::span<const Samples> metrics, double alpha, const LevelOf& level_of);

/// Different when any finding is, same when all are; undecided without any.
Verdict verdict_of(std::span<const Finding> findings);

double median(std::span<const double> values);              ///< 0 of none
double standard_deviation(std::span<const double> values);  ///< of the population; 0 of one

/// When a gate looks, in loads a side, and at which levels. Not thread-safe (it remembers levels).
class Looks {
 public:
  /// Every `every` loads up to `most` (both at least 1), the last at `most`; more seldom when that
  /// were more than kLooksMax.
  Looks(std::size_t every, std::size_t most);

  const std::vector<std::size_t>& at() const { return at_; }
  /// For judge() at the look of that number, from 0.
  double level(std::size_t look, double alpha);

 private:
  std::vector<std::size_t> at_;
  std::map<double, std::vector<double>> levels_;
};

}  // namespace reprise
