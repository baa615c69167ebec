#pragma once

// What of a page load is compared. Pure.

#include <array>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

struct Metric {
  enum class Unit { kMs, kScore, kCount, kBytes };
  std::string_view name;   ///< as on the command line
  std::string_view title;  ///< for people
  std::string_view field;  ///< of a load in RESULTS.md
  Unit unit;
  double least_absolute;  ///< differences below it do not matter, in its unit
};

inline constexpr std::size_t kMetricCount = 8;
extern const std::array<Metric, kMetricCount> kMetrics;

/// Indices into kMetrics for names separated by commas. Errors: a sentence with the known names.
std::expected<std::vector<std::size_t>, std::string> parse_metrics(std::string_view names);

/// "1834.2 ms", "0.031", "12", "48.3 kB"; with a sign when `signed_`.
std::string metric_text(Metric::Unit unit, double value, bool signed_ = false);

}  // namespace reprise
