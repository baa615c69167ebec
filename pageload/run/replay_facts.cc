#include "pageload/run/replay_facts.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <map>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http/url_parts.h"
#include "pageload/results/metric.h"

namespace reprise {
namespace {

/// "GET https://..." of each request that the replay had no answer for, and why.
std::map<std::string, std::string> misses_of(const ReplaySummary& report) {
  std::map<std::string, std::string> all;
  for (const ReplaySummary::Miss& miss : report.distinct_misses) {
    all.emplace(miss.method + " " + miss.url, miss.reason);
  }
  return all;
}

/// A URL as reports of replays name it: a long one is cut.
std::string url_in_report(std::string_view url) {
  std::string text(url.substr(0, kReportTextMax));
  if (url.size() > kReportTextMax) text += "...";
  return text;
}

/// Whether the miss of `url`, where the load ended, can be that of a document. A script can push a
/// URL (history.pushState) and fetch it without going there. A browser need not report the request
/// of a document that failed.
bool may_be_document(const PageLoad& page, std::string_view url) {
  bool requested = false;
  for (const PageRequest& request : page.requests) {
    if (without_fragment(request.url) != url) continue;
    if (request.resource_type == "Document") return true;
    requested = true;
  }
  return !requested;
}

/// Times and scores are those of a page that is not in the archive.
void reject(PageLoad& page, std::string failure) {
  page.outcome = LoadOutcome::kNotInArchive;
  page.failure = std::move(failure);
  for (const Metric& metric : kMetrics) {
    bool const of_document =
        metric.unit == Metric::Unit::kMs || metric.unit == Metric::Unit::kScore;
    if (of_document) (page.*metric.value).reset();
  }
}

/// Whether the replay got no request but the browser's own: it found the page elsewhere.
bool was_not_asked(const ReplaySummary& report) {
  return report.hits == 0 && report.misses == 0 &&
         std::ranges::all_of(report.special_answers,
                             [](auto const& answer) { return answer.kind == "browser"; });
}

void set_outcome(PageLoad& page, const std::map<std::string, std::string>& misses) {
  auto const asked = without_fragment(page.requests.empty() ? page.url : page.requests[0].url);
  for (auto const view : {asked, without_fragment(page.final_url)}) {
    auto const url = url_in_report(view);
    auto const miss = misses.find("GET " + url);
    if (miss == misses.end() || (view != asked && !may_be_document(page, view))) continue;
    reject(page, "The archive has no answer for " + url + ": " + miss->second + ".");
  }
}

/// "GET https://a.test/", as reports of replays name it: WebSockets by their CONNECT.
std::string name_in_report(const PageRequest& request) {
  bool const is_socket = request.url.starts_with("ws://") || request.url.starts_with("wss://");
  if (is_socket) return "CONNECT " + url_in_report("http" + request.url.substr(2));
  return request.method + " " + url_in_report(request.url);
}

/// A request that no page made was the browser's own.
std::vector<std::string> requests_of_browser(const PageLoad& page, const ReplaySummary& report,
                                             std::map<std::string, std::string> misses) {
  for (const ReplaySummary::SpecialAnswer& answer : report.special_answers) {
    if (answer.kind != "preflight") misses.emplace(answer.method + " " + answer.url, "");
  }
  for (const PageRequest& request : page.requests) misses.erase(name_in_report(request));
  std::vector<std::string> own;
  for (auto const& [request, reason] : misses) own.push_back(request);
  for (const std::string& name : report.missing_names) own.push_back("DNS " + name);
  return own;
}

/// What late packets can have cost at most between two moments, by CLOCK_MONOTONIC.
double cost_between(const LinkSummary::LatenessGrowth& growth, double from_ms, double to_ms) {
  auto const size = std::min(growth.at_ms.size(), growth.cost_ms.size());
  auto const times = std::span(growth.at_ms).first(size);
  auto const steps_until = [&](double time_ms) {
    return static_cast<std::size_t>(std::ranges::upper_bound(times, time_ms) - times.begin());
  };
  auto const cost_after = [&](std::size_t steps) {
    return steps == 0 ? 0 : growth.cost_ms[steps - 1];
  };
  auto const end = steps_until(to_ms);
  auto most = cost_after(end);
  if (end < size) most = std::min(most + growth.resolution_ms, growth.cost_ms[end]);
  return std::max(0.0, most - cost_after(steps_until(from_ms)));
}

/// The link may have served more than the load: another one that filled the cache, what the page
/// did after its load event.
void add_lateness(PageLoad& page, const ReplaySummary& report) {
  if (!page.machine || page.machine->began_ms <= 0) return;
  if (!report.link || !report.link->lateness_growth) return;
  page.lateness_ms = cost_between(*report.link->lateness_growth, page.machine->began_ms,
                                  page.machine->began_ms + page.machine->span_ms);
}

}  // namespace

void add_replay_report(PageLoad& page, const ReplaySummary& report) {
  auto misses = misses_of(report);
  set_outcome(page, misses);
  if (page.outcome == LoadOutcome::kLoaded && was_not_asked(report)) {
    reject(page,
           "The browser did not ask the replay for the page: it loaded it from elsewhere. Check "
           "the flags that are passed to the browser.");
  }
  page.browser_requests = requests_of_browser(page, report, std::move(misses));
  page.hits = report.hits;
  page.misses = report.misses;
  add_lateness(page, report);
}

void drop_lateness_growth(ReplaySummary& report) {
  if (report.link) report.link->lateness_growth.reset();
  auto* const link = report.whole.if_contains("link");
  if (link == nullptr || !link->is_object()) return;
  auto* const lateness = link->get_object().if_contains("lateness");
  if (lateness != nullptr && lateness->is_object()) lateness->get_object().erase("growth");
}

std::string lines_for_people(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("reprise: ")) out += line + "\n";
  }
  return out;
}

}  // namespace reprise
