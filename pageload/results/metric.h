#pragma once

// Every number of a page load that is shown or compared, once. Pure.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "pageload/results/page_load.h"

namespace reprise {

struct Metric {
  enum class Unit { kMs, kScore, kCount, kBytes };
  std::optional<double> PageLoad::* value;
  std::string_view field;  ///< of a load in RESULTS.md
  Unit unit;
  std::string_view name;   ///< on the command line of `compare`; empty: not compared
  std::string_view title;  ///< on a terminal; empty: not compared
  double least_absolute;   ///< differences below it do not matter, in its unit
  // On the page of `reprise view`; empty: not there.
  std::string_view label;   ///< among the distributions, and of its mark
  std::string_view mark;    ///< on the time axis of a load
  std::string_view column;  ///< heading in the list of loads
};

inline constexpr std::size_t kMetricCount = 13;
/// In the order in which they are shown.
extern const std::array<Metric, kMetricCount> kMetrics;

}  // namespace reprise
