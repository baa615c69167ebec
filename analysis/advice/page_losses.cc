#include "analysis/advice/page_losses.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>

#include "base/http/url_parts.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

/// A browser's console has no more in a result (PageRecord::kConsoleErrorsMax).
constexpr std::size_t kErrorsMax = 1'000;

/// An error without its numbers, which may be another in each load, and without the reason phrase
/// of a status: "404 (Not Found)" over HTTP/1.1 is "404 ()" over HTTP/2.
std::string kind_of(std::string_view error) {
  constexpr std::string_view kStatus = "responded with a status of ";
  std::string kind(error);
  if (auto const status = kind.find(kStatus); status != std::string::npos) {
    auto const begin = kind.find('(', status);
    auto const end = std::min(kind.find(") (", status), kind.rfind(')'));
    if (begin < end && end != std::string::npos) kind.erase(begin, end - begin + 1);
  }
  std::erase_if(kind, [](unsigned char each) { return std::isdigit(each) != 0; });
  return kind;
}

/// In how many loads something was seen; of errors, as they were first written.
struct Seen {
  std::size_t loads = 0;
  bool has_all_requests = true, has_all_errors = true;  ///< a result keeps so many
  std::map<std::string, std::size_t> requests;
  std::map<std::string, std::pair<std::string, std::size_t>> errors;
};

/// With all requests, or those that a load event could wait for.
Seen seen_in(const LoadResult& result, bool all_requests) {
  Seen seen;
  for (LoadResult::Load const& load : result.loads) {
    PageLoad const& page = load.page;
    if (page.outcome != LoadOutcome::kLoaded) continue;
    ++seen.loads;
    seen.has_all_requests = seen.has_all_requests && page.requests_not_kept == 0;
    seen.has_all_errors = seen.has_all_errors && page.console_errors.size() < kErrorsMax;
    constexpr auto kAlways = std::numeric_limits<double>::max();
    auto const until_ms = all_requests ? kAlways : page.load_event_ms.value_or(kAlways);
    std::set<std::string> requests;
    for (PageRequest const& request : page.requests) {
      if (request.start_ms > until_ms || !request.failure.empty()) continue;
      requests.insert(request.method + " " + std::string(without_query(request.url)));
    }
    for (auto const& each : requests) ++seen.requests[each];
    std::map<std::string, std::string> errors;
    for (auto const& each : page.console_errors) errors.emplace(kind_of(each), each);
    for (auto const& [kind, error] : errors) {
      ++seen.errors.try_emplace(kind, error, 0).first->second.second;
    }
  }
  return seen;
}

std::string some_of(const std::vector<std::string>& all, const char* what, const char* more) {
  if (all.empty()) return {};
  auto const& first = all.front();
  return counted(all.size(), what) + more + (all.size() == 1 ? ": " : ", such as ") +
         first.substr(0, first.find('\n'));  // not an error's stack
}

}  // namespace

std::string PageLosses::text() const {
  auto const lost = some_of(requests, "request", requests.size() == 1 ? " is lost" : " are lost");
  auto const failed = some_of(errors, "new error", "");
  return lost + (lost.empty() || failed.empty() ? "" : "; ") + failed;
}

PageLosses page_losses(const LoadResult& recorded, const LoadResult& changed,
                       const std::set<std::string>& meant) {
  auto const before = seen_in(recorded, false);
  auto const after = seen_in(changed, true);
  PageLosses losses;
  if (before.loads == 0 || after.loads == 0) return losses;
  std::set<std::string_view> meant_urls;
  for (std::string_view const url : meant) meant_urls.insert(without_query(url));
  for (auto const& [request, loads] : before.requests) {
    auto const url = std::string_view(request).substr(request.find(' ') + 1);
    bool const is_lost = loads == before.loads && !after.requests.contains(request);
    if (is_lost && after.has_all_requests && !meant_urls.contains(url))
      losses.requests.push_back(request);
  }
  for (auto const& [kind, error] : after.errors) {
    bool const is_new = error.second == after.loads && !before.errors.contains(kind);
    if (is_new && before.has_all_errors) {
      losses.errors.push_back(error.first);
    }
  }
  return losses;
}

}  // namespace reprise
