#pragma once

// Metrics by their names on the command line, and their values as text. Pure.

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "pageload/results/metric.h"

namespace reprise {

/// All compared metrics, as indices into kMetrics.
std::vector<std::size_t> compared_metrics();

/// Indices into kMetrics for names separated by commas. Errors: a sentence with the known names.
std::expected<std::vector<std::size_t>, std::string> parse_metrics(std::string_view names);

/// "1834.2 ms", "0.031", "12", "48.3 kB"; with a sign when `signed_`.
std::string metric_text(Metric::Unit unit, double value, bool signed_ = false);

/// In JSON: "ms", "score", "count", "bytes".
std::string_view unit_name(Metric::Unit unit);

}  // namespace reprise
