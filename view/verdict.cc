#include "view/verdict.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/text/counted.h"
#include "base/text/json_fields.h"
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

std::string title_of(std::string url, const LoadConfiguration& a, const LoadConfiguration& b) {
  url += " · " + conditions_of(a);
  if (a != b) url += " against " + conditions_of(b);
  return as_utf8(url);
}

json::object page_json(const ComparedPage& page) {
  json::array metrics;
  for (const ComparedMetric& each : page.metrics) metrics.push_back(finding_json(each));
  return {{"title", title_of(page.a.url, page.a.conditions, page.b.conditions)},
          {"a", {{"loads", page.a.loads.size()}, {"failed", page.a.failed}}},
          {"b", {{"loads", page.b.loads.size()}, {"failed", page.b.failed}}},
          {"few_count", page.few_count},
          {"metrics", std::move(metrics)}};
}

/// What a user chooses before the loads.
bool is_chosen(Mismatch difference) {
  constexpr std::array kChosen{Mismatch::kArchive,  Mismatch::kWhatIf, Mismatch::kBrowser,
                               Mismatch::kProtocol, Mismatch::kLink,   Mismatch::kCache};
  return std::ranges::find(kChosen, difference) != kChosen.end();
}

json::value number_or_null(const json::object& from, std::string_view name) {
  auto const* const value = from.if_contains(name);
  return value != nullptr && value->is_number() ? *value : json::value();
}

/// A metric of a verdict.json; nothing if the page does not know it.
std::optional<json::object> read_finding(const json::object& from) {
  auto const field = text_at(from, "field");
  auto const* const metric = std::ranges::find(kMetrics, field, &Metric::field);
  if (metric == kMetrics.end() || metric->label.empty()) return std::nullopt;
  json::object out{{"field", field}, {"verdict", text_at(from, "verdict")}};
  for (auto const* const name : {"median_a", "median_b", "shift", "low", "high"}) {
    out[name] = number_or_null(from, name);
  }
  out["p"] = out["shift"].is_null() ? json::value() : number_or_null(from, "holm_p");
  return out;
}

LoadConfiguration read_conditions(const json::object& side) {
  auto const& from = object_at(side, "configuration");
  return {.browser = std::string(text_at(from, "browser")),
          .protocol = std::string(text_at(from, "protocol")),
          .link = std::string(text_at(from, "link")),
          .cache = std::string(text_at(from, "cache"))};
}

json::object read_page(const json::object& from) {
  json::array metrics;
  for (const json::value& each : array_at(from, "metrics")) {
    auto const* const metric = each.if_object();
    auto finding = metric == nullptr ? std::nullopt : read_finding(*metric);
    if (finding) metrics.push_back(std::move(*finding));
  }
  auto const& a = object_at(from, "a");
  auto const& b = object_at(from, "b");
  auto const counts = [](const json::object& side) -> json::object {
    return {{"loads", integer_at(side, "loads")}, {"failed", integer_at(side, "failed")}};
  };
  return {{"title",
           title_of(std::string(text_at(from, "url")), read_conditions(a), read_conditions(b))},
          {"a", counts(a)},
          {"b", counts(b)},
          {"few_count", flag_at(from, "few_count")},
          {"metrics", std::move(metrics)}};
}

/// Whether a page of a verdict.json counts no more loads of a side than its result has.
bool has_loads_of(const json::object& side, std::string_view url, const LoadResult& result) {
  auto const conditions = read_conditions(side);
  auto const loads = std::ranges::count_if(result.loads, [&](const LoadResult::Load& load) {
    return load.page.url == url && load.configuration == conditions;
  });
  return loads > 0 &&
         number_at(side, "loads") + number_at(side, "failed") <= static_cast<double>(loads);
}

bool is_of(const json::object& verdict, const LoadResult& a, const LoadResult& b) {
  if (text_at(verdict, "schema") != "reprise-compare/1") return false;
  auto const seed = number_or_null(object_at(verdict, "gate"), "seed");
  boost::system::error_code inexact;
  if (seed.is_null() || a.seed != b.seed || seed.to_number<std::uint64_t>(inexact) != a.seed ||
      inexact) {
    return false;
  }
  return std::ranges::all_of(array_at(verdict, "pages"), [&](const json::value& each) {
    auto const* const page = each.if_object();
    if (page == nullptr) return false;
    auto const url = text_at(*page, "url");
    return has_loads_of(object_at(*page, "a"), url, a) &&
           has_loads_of(object_at(*page, "b"), url, b);
  });
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
          {"source", "as by reprise compare"},
          {"refusals", std::move(refusals)},
          {"remarks", std::move(remarks)},
          {"pages", std::move(pages)}};
}

Comparison compare_as_chosen(const Measurements& a, const Measurements& b) {
  CompareOptions options;
  std::vector<std::string> remarks;
  for (;;) {
    auto comparison = compare(a, b, options);
    bool allows_more = false;
    for (const Refusal& each : comparison.refusals) {
      if (!is_chosen(each.difference)) continue;
      if (!options.allowed.insert(each.difference).second) continue;
      allows_more = true;
      remarks.push_back(each.text);
      // A page that is changed may request other things.
      if (each.difference == Mismatch::kWhatIf) {
        options.allowed.insert({Mismatch::kRequests, Mismatch::kMisses});
      }
    }
    if (allows_more) continue;
    std::ranges::copy(setting_remarks(a, b), std::back_inserter(remarks));
    comparison.remarks.insert(comparison.remarks.begin(), remarks.begin(), remarks.end());
    return comparison;
  }
}

std::optional<json::object> gate_verdict_json(std::string_view text, const LoadResult& a,
                                              const LoadResult& b) {
  boost::system::error_code malformed;
  auto const value = json::parse(text, malformed);
  if (malformed || !value.is_object()) return std::nullopt;
  auto const& from = value.get_object();
  auto const verdict = text_at(from, "verdict");
  constexpr std::array<std::string_view, 4> kVerdicts{"same", "different", "undecided", "refused"};
  bool const is_known = std::ranges::find(kVerdicts, verdict) != kVerdicts.end();
  if (!is_known || !is_of(from, a, b)) return std::nullopt;
  json::array refusals, remarks, pages;
  for (const json::value& each : array_at(from, "refusals")) {
    if (!each.is_object()) continue;
    refusals.emplace_back(std::string(text_at(each.get_object(), "text")));
  }
  for (const json::value& each : array_at(from, "remarks")) {
    if (each.is_string()) remarks.push_back(each);
  }
  auto const& gate = object_at(from, "gate");
  auto const runs = static_cast<std::size_t>(std::max<std::int64_t>(integer_at(gate, "runs"), 0));
  remarks.emplace_back("the gate ended after " + counted(runs, "load") +
                       " a side: " + std::string(text_at(gate, "end")));
  for (const json::value& each : array_at(from, "pages")) {
    pages.push_back(read_page(each.get_object()));
  }
  return json::object{{"verdict", verdict},
                      {"source", "as in verdict.json beside them"},
                      {"refusals", std::move(refusals)},
                      {"remarks", std::move(remarks)},
                      {"pages", std::move(pages)}};
}

}  // namespace reprise
