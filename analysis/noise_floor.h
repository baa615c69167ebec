#pragma once

// What a gate can see on one side's loads, and how often it says different of what is the same:
// the loads are split into two sides at random, again and again. Pure.

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "analysis/gate.h"
#include "analysis/measurements.h"

namespace reprise {

struct NoiseFloorOptions {
  GateOptions gate;
  std::size_t splits = 2000;
  std::uint64_t seed = 1;
};

/// The smallest shift that a look finds in four of five splits.
struct VisibleEffect {
  std::size_t runs = 0;  ///< a side
  double effect = 0;     ///< in the metric's unit; infinite when there are too few runs
};

struct MetricNoise {
  std::string url;
  LoadConfiguration conditions;
  std::size_t metric = 0;  ///< index into kMetrics
  std::size_t loads = 0;
  double median = 0;
  double variation = 0;                ///< standard deviation by mean
  std::vector<VisibleEffect> visible;  ///< at each look
  std::size_t alarms = 0;              ///< splits in which this metric was called different
};

struct NoiseFloor {
  std::size_t splits = 0;
  std::size_t runs = 0;  ///< a side; fewer than asked for when there are too few loads
  std::size_t different = 0, same = 0, undecided = 0;  ///< splits, over all metrics together
  double rate_low = 0, rate_high = 0;  ///< 95 % interval of the share of `different` (Wilson)
  std::vector<MetricNoise> metrics;
  /// Sentences: loads that do not count, metrics that are skipped for too few loads, and the one
  /// that limits `runs`. Their URLs are untrusted text.
  std::vector<std::string> remarks;
};

/// Loads next to each other in time are split up, one to each side, so that what drifts on the
/// machine is the same on both, as in a gate. Where links of several loads lost the same packets
/// (by their seeds), neighbours are two of these, and a split compares what a gate would. Where
/// there are more loads than a gate makes, each split takes a stretch of them. A metric of a page
/// with too few loads is skipped where others have enough. Errors: a sentence, untrusted text, when
/// there are too few loads that count; it names what disturbed the others.
std::expected<NoiseFloor, std::string> noise_floor(const Measurements& loads,
                                                   const NoiseFloorOptions& options);

/// Wilson's interval for `hits` of `trials` (1927), at 95 %.
std::pair<double, double> share_interval(std::size_t hits, std::size_t trials);

}  // namespace reprise
