#include "pageload/run/replay_facts.h"

#include <algorithm>
#include <map>
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
  if (page.machine) page.machine->own_ms += report.processor_ms.value_or(0);
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
