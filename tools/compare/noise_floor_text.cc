#include "tools/compare/noise_floor_text.h"

#include <boost/json/array.hpp>
#include <cmath>

#include "analysis/metric.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "base/text/text_table.h"
#include "pageload/results/result_file.h"

namespace json = boost::json;

namespace reprise {
namespace {

std::string percent(double share) {
  return formatted("%.2f %%", 100 * share);
}

std::string page_text(const MetricNoise& noise) {
  return printable(noise.url + " (" + noise.conditions.browser + ", " + noise.conditions.protocol +
                   ", link " + noise.conditions.link + ", " + noise.conditions.cache + ")");
}

TableRow title_row(const MetricNoise& noise) {
  TableRow row{"metric", "loads", "median", "CV"};
  for (const VisibleEffect& each : noise.visible) {
    row.push_back("seen, " + counted(each.runs, "run"));
  }
  row.emplace_back("alarms");
  return row;
}

TableRow metric_row(const MetricNoise& noise) {
  const Metric& metric = kMetrics[noise.metric];
  TableRow row{std::string(metric.title), std::to_string(noise.loads),
               metric_text(metric.unit, noise.median), percent(noise.variation)};
  for (const VisibleEffect& each : noise.visible) {
    row.push_back(std::isinf(each.effect) ? "nothing" : metric_text(metric.unit, each.effect));
  }
  row.push_back(std::to_string(noise.alarms));
  return row;
}

json::array visible_json(const MetricNoise& noise) {
  json::array out;
  for (const VisibleEffect& each : noise.visible) {
    out.push_back({{"runs", each.runs},
                   {"effect", std::isinf(each.effect) ? json::value() : json::value(each.effect)}});
  }
  return out;
}

}  // namespace

std::string noise_floor_text(const NoiseFloor& floor) {
  std::string text;
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < floor.metrics.size(); ++i) {
    const MetricNoise& noise = floor.metrics[i];
    if (rows.empty()) {
      text += page_text(noise) + "\n";
      rows.push_back(title_row(noise));
    }
    rows.push_back(metric_row(noise));
    bool const is_last =
        i + 1 == floor.metrics.size() || page_text(floor.metrics[i + 1]) != page_text(noise);
    if (!is_last) continue;
    text += text_table(rows) + "\n";
    rows.clear();
  }
  for (const std::string& each : floor.remarks) text += "note: " + printable(each) + "\n";
  text +=
      "\"Seen\" is the smallest change that this number of runs per side finds four times out of "
      "five.\n";
  text += "Of " + counted(floor.splits, "split") + " into " + counted(floor.runs, "run") +
          " per side, " + std::to_string(floor.different) + " are different (" +
          percent(static_cast<double>(floor.different) / static_cast<double>(floor.splits)) +
          ", 95 % interval " + percent(floor.rate_low) + " to " + percent(floor.rate_high) + "), " +
          std::to_string(floor.same) + " same, " + std::to_string(floor.undecided) +
          " undecided.\n";
  return text;
}

json::object noise_floor_json(const NoiseFloor& floor) {
  json::array metrics;
  for (const MetricNoise& noise : floor.metrics) {
    metrics.push_back({{"url", as_utf8(noise.url)},
                       {"configuration", to_json(noise.conditions)},
                       {"metric", kMetrics[noise.metric].name},
                       {"loads", noise.loads},
                       {"median", noise.median},
                       {"variation", noise.variation},
                       {"visible", visible_json(noise)},
                       {"alarms", noise.alarms}});
  }
  json::array remarks;
  for (const std::string& each : floor.remarks) remarks.emplace_back(as_utf8(each));
  return {{"schema", "reprise-noise/1"},
          {"splits", floor.splits},
          {"runs", floor.runs},
          {"different", floor.different},
          {"same", floor.same},
          {"undecided", floor.undecided},
          {"rate_low", floor.rate_low},
          {"rate_high", floor.rate_high},
          {"metrics", std::move(metrics)},
          {"remarks", std::move(remarks)}};
}

}  // namespace reprise
