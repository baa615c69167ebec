#include "analysis/metric.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace reprise {
namespace {

using enum Metric::Unit;

}  // namespace

std::vector<std::size_t> compared_metrics() {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    if (!kMetrics[i].name.empty()) out.push_back(i);
  }
  return out;
}

std::expected<std::vector<std::size_t>, std::string> parse_metrics(std::string_view names) {
  auto const known = compared_metrics();
  std::vector<std::size_t> out;
  while (true) {
    auto const comma = names.find(',');
    auto const name = names.substr(0, comma);
    auto const metric =
        std::ranges::find(known, name, [](std::size_t index) { return kMetrics[index].name; });
    if (metric == known.end()) {
      std::string text = "unknown metric '" + std::string(name) + "', but";
      for (std::size_t const index : known) text += " " + std::string(kMetrics[index].name);
      return std::unexpected(text);
    }
    if (std::ranges::find(out, *metric) == out.end()) out.push_back(*metric);
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

std::string_view unit_name(Metric::Unit unit) {
  switch (unit) {
    case kMs:
      return "ms";
    case kScore:
      return "score";
    case kCount:
      return "count";
    case kBytes:
      break;
  }
  return "bytes";
}

}  // namespace reprise
