#include "analysis/budget/budget.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <cmath>
#include <utility>

#include "analysis/contribution/call_subject.h"
#include "analysis/contribution/entities.h"
#include "analysis/metric.h"
#include "analysis/verdict.h"
#include "base/http/headers.h"
#include "base/http/url_parts.h"
#include "base/text/glob.h"
#include "base/text/json_fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr auto kResources =
    std::to_array<std::string_view>({"document", "script", "stylesheet", "image", "media", "font",
                                     "other", "third-party", "total"});

/// Of a budget in the file.
constexpr auto kMembers = std::to_array<std::string_view>(
    {"path", "options", "timings", "resourceSizes", "resourceCounts"});

/// Their names in the file, in the metrics' unit.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTimings = {{
    {"first-contentful-paint", "first_contentful_paint_ms"},
    {"largest-contentful-paint", "largest_contentful_paint_ms"},
    {"cumulative-layout-shift", "cumulative_layout_shift"},
    {"load", "load_event_ms"},
    {"dom-content-loaded", "dom_content_loaded_ms"},
}};

/// Other timings of Lighthouse's, of any version. They are not measured.
constexpr auto kUnmeasuredTimings = std::to_array<std::string_view>(
    {"estimated-input-latency", "first-cpu-idle", "first-meaningful-paint", "interactive",
     "max-potential-fid", "speed-index", "total-blocking-time"});

/// Null if it is not measured.
const Metric* timing_called(std::string_view name) {
  auto const found =
      std::ranges::find(kTimings, name, &std::pair<std::string_view, std::string_view>::first);
  if (found == kTimings.end()) return nullptr;
  return &*std::ranges::find(kMetrics, found->second, &Metric::field);
}

bool is_known(std::string_view name, BudgetLine::Kind kind) {
  if (kind != BudgetLine::Kind::kTiming) {
    return std::ranges::find(kResources, name) != kResources.end();
  }
  return timing_called(name) != nullptr ||
         std::ranges::find(kUnmeasuredTimings, name) != kUnmeasuredTimings.end();
}

using Problem = std::optional<std::string>;

/// Adds the lines of a list of the file; returns what is wrong with it.
Problem add_lines(const json::object& budget, std::string_view list, std::string_view key,
                  BudgetLine::Kind kind, PageBudget& to) {
  auto const* const entries = budget.if_contains(list);
  if (entries != nullptr && !entries->is_array()) return std::string(list) + " is not an array";
  for (const json::value& each : array_at(budget, list)) {
    auto const* const object = each.if_object();
    auto const name = object == nullptr ? std::string_view() : text_at(*object, key);
    auto const limit = object == nullptr ? -1 : number_at(*object, "budget", -1);
    if (name.empty() || !(limit >= 0)) {
      return "every entry of " + std::string(list) + " needs " + std::string(key) +
             " and a budget of 0 or more";
    }
    if (!is_known(name, kind)) {
      return "it has an unknown " + std::string(key) + " '" + std::string(name) + "'";
    }
    constexpr double kKibibyte = 1024;
    double const tolerance = number_at(*object, "tolerance", 0);
    to.lines.push_back({kind, std::string(name),
                        kind == BudgetLine::Kind::kBytes ? limit * kKibibyte : limit + tolerance});
  }
  return std::nullopt;
}

std::expected<PageBudget, std::string> read_budget(const json::object& object) {
  for (auto const& [member, value] : object) {
    if (std::ranges::find(kMembers, std::string_view(member)) == kMembers.end()) {
      return std::unexpected("it has an unknown member '" + std::string(member) + "'");
    }
  }
  PageBudget budget{.path = std::string(text_at(object, "path"))};
  for (const json::value& host : array_at(object_at(object, "options"), "firstPartyHostnames")) {
    if (host.is_string()) budget.first_party_hosts.emplace_back(host.get_string());
  }
  using Kind = BudgetLine::Kind;
  for (auto const& [list, key, kind] : {std::tuple("resourceSizes", "resourceType", Kind::kBytes),
                                        {"resourceCounts", "resourceType", Kind::kCount},
                                        {"timings", "metric", Kind::kTiming}}) {
    if (auto problem = add_lines(object, list, key, kind, budget)) {
      return std::unexpected(std::move(*problem));
    }
  }
  return budget;
}

/// "/path?query" of a URL.
std::string target_of(std::string_view url) {
  auto const parts = url_parts(url);
  auto target = parts.path.empty() ? "/" : std::string(parts.path);
  if (!parts.query.empty()) target.append("?").append(parts.query);
  return target;
}

bool fits_path(std::string pattern, std::string_view url) {
  if (pattern.empty()) return true;
  if (pattern.ends_with('$')) {
    pattern.pop_back();
  } else {
    pattern += '*';
  }
  return fits_glob(pattern, target_of(url));
}

/// The last one whose path fits; null without one.
const PageBudget* budget_for(const std::vector<PageBudget>& budgets, std::string_view url) {
  const PageBudget* found = nullptr;
  for (const PageBudget& budget : budgets) {
    if (fits_path(budget.path, url)) found = &budget;
  }
  return found;
}

/// The type of a request in the file's terms.
std::string type_of(const PageRequest& request) {
  auto type = lower_case(request.resource_type);
  bool const known = std::ranges::find(kResources, type) != kResources.end();
  return known && type != "total" && type != "third-party" ? type : "other";
}

bool is_third_party(const PageRequest& request, const PageBudget& budget, PageHosts& hosts) {
  auto const host = lower_case(url_parts(request.url).host);
  if (budget.first_party_hosts.empty()) return !hosts.facts(host).first_party;
  return std::ranges::none_of(budget.first_party_hosts,
                              [&](const std::string& each) { return fits_glob(each, host); });
}

bool counts_for(const PageRequest& request, const BudgetLine& line, const PageBudget& budget,
                PageHosts& hosts) {
  if (url_parts(request.url).path.ends_with("/favicon.ico")) return false;
  if (line.name == "total") return true;
  if (line.name == "third-party") return is_third_party(request, budget, hosts);
  return type_of(request) == line.name;
}

std::optional<double> value_of(const BudgetLine& line, const PageBudget& budget,
                               const PageLoad& page) {
  if (line.kind == BudgetLine::Kind::kTiming) {
    auto const* const metric = timing_called(line.name);
    return metric == nullptr ? std::nullopt : page.*metric->value;
  }
  double sum = 0;
  PageHosts hosts(page.final_url.empty() ? page.url : page.final_url, Entities::built_in());
  for (const PageRequest& request : page.requests) {
    if (!counts_for(request, line, budget, hosts)) continue;
    sum += line.kind == BudgetLine::Kind::kBytes ? static_cast<double>(request.encoded_bytes) : 1;
  }
  return sum;
}

/// The loads that count, by page and configuration.
struct PageLoads {
  std::string url;
  LoadConfiguration configuration;
  std::vector<const PageLoad*> loads;
};

std::vector<PageLoads> pages_of(const LoadResult& result) {
  std::vector<PageLoads> pages;
  for (const LoadResult::Load& load : result.loads) {
    if (!load.counts()) continue;
    auto page = std::ranges::find_if(pages, [&](const PageLoads& each) {
      return each.url == load.page.url && each.configuration == load.configuration;
    });
    if (page == pages.end()) {
      page = pages.insert(pages.end(), {load.page.url, load.configuration, {}});
    }
    page->loads.push_back(&load.page);
  }
  return pages;
}

std::string value_text(const BudgetLine& line, double value) {
  if (line.kind == BudgetLine::Kind::kBytes) return metric_text(Metric::Unit::kBytes, value);
  if (line.kind == BudgetLine::Kind::kCount) return metric_text(Metric::Unit::kCount, value);
  auto const* const metric = timing_called(line.name);
  return metric_text(metric == nullptr ? Metric::Unit::kMs : metric->unit, value);
}

}  // namespace

std::expected<std::vector<PageBudget>, std::string> read_budgets(std::string_view text) {
  std::error_code error;
  auto const value = json::parse(text, error);
  if (error) return std::unexpected("it is not JSON: " + error.message());
  auto const* const array = value.if_array();
  if (array == nullptr) return std::unexpected("it is not an array of budgets");
  std::vector<PageBudget> budgets;
  for (const json::value& each : *array) {
    auto const* const object = each.if_object();
    if (object == nullptr) return std::unexpected("it is not an array of budgets");
    auto budget = read_budget(*object);
    if (!budget) return std::unexpected(budget.error());
    budgets.push_back(std::move(*budget));
  }
  return budgets;
}

bool has_budget(const std::vector<PageBudget>& budgets, std::string_view url) {
  return budget_for(budgets, url) != nullptr;
}

std::vector<BudgetFinding> check_budgets(const std::vector<PageBudget>& budgets,
                                         const LoadResult& result) {
  std::vector<BudgetFinding> findings;
  for (const PageLoads& page : pages_of(result)) {
    auto const* const found = budget_for(budgets, page.url);
    if (found == nullptr) continue;
    for (const BudgetLine& line : found->lines) {
      std::vector<double> values;
      for (const PageLoad* const load : page.loads) {
        if (auto const value = value_of(line, *found, *load)) values.push_back(*value);
      }
      BudgetFinding finding{page.url, page.configuration, line, page.loads.size(), {}};
      if (!values.empty()) finding.median = median(values);
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::string budget_conditions(const BudgetFinding& finding) {
  const LoadConfiguration& its = finding.configuration;
  return its.browser + ", " + its.protocol + ", link " + its.link + ", " + its.cache;
}

std::string budget_text(const BudgetFinding& finding) {
  auto const& line = finding.line;
  auto text = line.name;
  if (line.kind == BudgetLine::Kind::kCount) text += " requests";
  if (!finding.median) return text + ": not measured";
  return text + " " + value_text(line, *finding.median) + " of " + value_text(line, line.limit) +
         (finding.is_over() ? ": over" : "");
}

}  // namespace reprise
