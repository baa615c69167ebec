#pragma once

// Quantiles of a distribution that is sampled from observed rows, each sample from one of them:
// when there are enough samples, and how sure the quantiles are. They are those of quantile_of().
// Pure.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace reprise {

/// Times are in us.
struct PredictedQuantile {
  double quantile = .5;
  double observed_us = 0;
  double predicted_us = 0;
  double low_us = 0;  ///< interval, by bootstrap over the observed rows
  double high_us = 0;
  double saving_us = 0;  ///< observed - predicted; below 0: it costs
  double saving_low_us = 0;
  double saving_high_us = 0;
  /// Whether there are `rows_needed` observed rows. If not, these are no 95 % intervals: the true
  /// quantile is too often beyond all rows, which no resample can show.
  bool interval_reaches_level = true;
  std::size_t rows_needed = 0;
};

/// A predicted distribution beside the observed one.
struct PredictedTimes {
  std::vector<PredictedQuantile> quantiles;  ///< in the order asked for
  std::vector<double> observed_us;           ///< of each row
  std::vector<double> predicted_us;          ///< all samples
};

class SampledQuantiles {
 public:
  /// Returns the row's number.
  std::size_t add_row(double observed_us);
  void add(std::size_t row, double predicted_us) { samples_.emplace_back(predicted_us, row); }
  bool any() const { return !times_.observed_us.empty(); }
  std::size_t rows() const { return times_.observed_us.size(); }
  std::size_t samples() const { return samples_.size(); }

  /// Whether the order statistics around each quantile, at 95 %, are within this part of it on
  /// either side. Takes O(n log n).
  bool is_within(std::span<const double> quantiles, double bound) const;

  /// There is a row and a sample.
  PredictedTimes finish(std::span<const double> quantiles, std::uint64_t seed) &&;

 private:
  PredictedTimes times_;
  std::vector<std::pair<double, std::size_t>> samples_;
};

/// From so many rows on, the interval from the least to the greatest has the quantile of what they
/// come from in 95 % of all cases; an interval of fewer rows does not. `quantile` is above 0 and
/// below 1. It is P(1 <= Binomial(rows, quantile) <= rows - 1).
std::size_t rows_for_interval(double quantile);

/// The smallest value that at least this share of the values does not exceed; if that is just this
/// share, midway between it and the next value: that of .5 is the median. `values` are not empty.
double quantile_of(std::vector<double> values, double quantile);

}  // namespace reprise
