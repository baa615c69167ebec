#pragma once

// The one list of the numbers of a page load that are shown or compared. Pure.

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
  // On the page of `reprise view`; empty: not shown.
  std::string_view label;   ///< among the distributions, and of its mark
  std::string_view mark;    ///< on the time axis of a load
  std::string_view column;  ///< heading in the list of loads
};

inline constexpr std::size_t kMetricCount = 13;
/// In the order of display.
extern const std::array<Metric, kMetricCount> kMetrics;

}  // namespace reprise
