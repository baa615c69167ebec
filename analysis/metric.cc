#include "analysis/metric.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace reprise {
namespace {

using enum Metric::Unit;

}  // namespace

// The least differences: 2 ms is what the start of a navigation varies by, 0.01 a tenth of what
// counts as a good layout shift.
constinit const std::array<Metric, kMetricCount> kMetrics{{
    {"load", "load event", "load_event_ms", kMs, 2},
    {"last-load", "last load time", "last_load_ms", kMs, 2},
    {"fcp", "first contentful paint", "first_contentful_paint_ms", kMs, 2},
    {"lcp", "largest contentful paint", "largest_contentful_paint_ms", kMs, 2},
    {"dcl", "DOM content loaded", "dom_content_loaded_ms", kMs, 2},
    {"cls", "cumulative layout shift", "cumulative_layout_shift", kScore, 0.01},
    {"requests", "requests", "request_count", kCount, 0},
    {"bytes", "bytes", "encoded_bytes", kBytes, 0},
}};

std::expected<std::vector<std::size_t>, std::string> parse_metrics(std::string_view names) {
  std::vector<std::size_t> out;
  while (true) {
    auto const comma = names.find(',');
    auto const name = names.substr(0, comma);
    auto const* const metric = std::ranges::find(kMetrics, name, &Metric::name);
    if (metric == kMetrics.end()) {
      std::string text = "unknown metric '" + std::string(name) + "', but";
      for (const Metric& each : kMetrics) text += " " + std::string(each.name);
      return std::unexpected(text);
    }
    auto const index = static_cast<std::size_t>(metric - kMetrics.begin());
    if (std::ranges::find(out, index) == out.end()) out.push_back(index);
    if (comma == std::string_view::npos) return out;
    names.remove_prefix(comma + 1);
  }
}

std::string metric_text(Metric::Unit unit, double value, bool signed_) {
  if (std::isinf(value)) return value < 0 ? "-?" : "?";
  const char* format = signed_ ? "%+.*f%s" : "%.*f%s";
  int decimals = 0;
  const char* suffix = "";
  if (unit == kMs) {
    decimals = 1;
    suffix = " ms";
  } else if (unit == kScore) {
    decimals = 3;
  } else if (unit == kBytes) {
    suffix = " B";
    if (std::abs(value) >= 1000) {
      value /= 1000;
      decimals = 1;
      suffix = " kB";
    }
  } else if (value != std::round(value)) {
    decimals = 1;
  }
  char text[64];
  std::snprintf(text, sizeof text, format, decimals, value, suffix);
  return text;
}

}  // namespace reprise
