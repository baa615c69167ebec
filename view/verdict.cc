#include "view/verdict.h"

#include <boost/json/array.hpp>
#include <cmath>

#include "base/text/printable.h"
#include "pageload/results/metric.h"

namespace json = boost::json;

namespace reprise {
namespace {

json::value known_number(double value, bool known) {
  return known && std::isfinite(value) ? json::value(value) : json::value();
}

json::object finding_json(const ComparedMetric& each) {
  const Finding& finding = each.finding;
  bool const is_compared = finding.is_compared();
  return {{"field", kMetrics[each.metric].field},
          {"median_a", known_number(finding.median_a, finding.of_a > 0)},
          {"median_b", known_number(finding.median_b, finding.of_b > 0)},
          {"shift", known_number(finding.shift.estimate, is_compared)},
          {"low", known_number(finding.shift.low, is_compared)},
          {"high", known_number(finding.shift.high, is_compared)},
          {"p", known_number(finding.holm_p, is_compared)},
          {"verdict", to_string(finding.verdict)}};
}

std::string conditions_of(const LoadConfiguration& conditions) {
  return conditions.browser + " · " + conditions.protocol + " · " + conditions.link + " · " +
         conditions.cache;
}

json::object page_json(const ComparedPage& page) {
  json::array metrics;
  for (const ComparedMetric& each : page.metrics) metrics.push_back(finding_json(each));
  auto title = page.a.url + " · " + conditions_of(page.a.conditions);
  if (page.a.conditions != page.b.conditions) {
    title += " against " + conditions_of(page.b.conditions);
  }
  return {{"title", as_utf8(title)},
          {"a", {{"loads", page.a.loads.size()}, {"failed", page.a.failed}}},
          {"b", {{"loads", page.b.loads.size()}, {"failed", page.b.failed}}},
          {"metrics", std::move(metrics)}};
}

}  // namespace

json::object verdict_json(const Comparison& comparison) {
  json::array refusals;
  json::array remarks;
  json::array pages;
  for (const Refusal& each : comparison.refusals) refusals.emplace_back(as_utf8(each.text));
  for (const std::string& each : comparison.remarks) remarks.emplace_back(as_utf8(each));
  for (const ComparedPage& page : comparison.pages) pages.push_back(page_json(page));
  return {{"verdict", to_string(comparison.verdict)},
          {"refusals", std::move(refusals)},
          {"remarks", std::move(remarks)},
          {"pages", std::move(pages)}};
}

}  // namespace reprise
