#include "analysis/request_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/verdict.h"
#include "archive/match/browser_paths.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// Page, method and URL, and the number of the request with these.
using Key = std::pair<std::string, std::size_t>;

struct Seen {
  std::string url;
  std::vector<double> starts, ends;
};

struct Side {
  std::map<std::string, std::size_t> loads;  // by page
  std::map<Key, Seen> requests;
  std::set<std::string> misses;
};

Side seen_in(const LoadResult& result) {
  Side side;
  for (const LoadResult::Load& load : result.loads) {
    if (!load.counts()) continue;
    ++side.loads[load.page.url];
    std::map<std::string, std::size_t> times;
    for (const PageRequest& request : load.page.requests) {
      if (request.start_ms < 0 || is_browser_path(url_parts(request.url).path)) continue;
      auto const name = load.page.url + "\n" + request.method + " " + request.url;
      auto& seen = side.requests[{name, times[name]++}];
      seen.url = request.method + " " + request.url;
      seen.starts.push_back(request.start_ms);
      if (request.end_ms >= 0) seen.ends.push_back(request.end_ms);
    }
    if (auto const* const replay = result.replay_of(load)) {
      for (auto const& miss : replay->distinct_misses) {
        side.misses.insert(miss.method + " " + miss.url);
      }
    }
  }
  return side;
}

bool has_page(const Side& side, const Key& key) {
  return side.loads.contains(key.first.substr(0, key.first.find('\n')));
}

bool is_usual(const Side& side, const Key& key) {
  auto const found = side.requests.find(key);
  if (found == side.requests.end()) return false;
  auto const page = side.loads.find(key.first.substr(0, key.first.find('\n')));
  return page != side.loads.end() && found->second.starts.size() * 2 > page->second;
}

MovedTimes times_of(const Seen& seen) {
  return {.start_ms = median(seen.starts),
          .end_ms = seen.ends.empty() ? median(seen.starts) : median(seen.ends)};
}

double moved_by(const MovedRequest& request) {
  return std::max(std::abs(request.b.end_ms - request.a.end_ms),
                  std::abs(request.b.start_ms - request.a.start_ms));
}

}  // namespace

RequestChanges request_changes(const LoadResult& a, const LoadResult& b) {
  auto const of_a = seen_in(a);
  auto const of_b = seen_in(b);
  RequestChanges changes;
  for (auto const& [key, seen] : of_b.requests) {
    if (!is_usual(of_b, key) || !has_page(of_a, key)) continue;
    if (!is_usual(of_a, key)) {
      changes.came.push_back(seen.url);
      if (of_b.misses.contains(seen.url)) changes.missed.push_back(seen.url);
      continue;
    }
    MovedRequest moved{.url = seen.url, .a = times_of(of_a.requests.at(key)), .b = times_of(seen)};
    if (moved_by(moved) >= kMovedLeastMs) changes.moved.push_back(std::move(moved));
  }
  for (auto const& [key, seen] : of_a.requests) {
    bool const went = is_usual(of_a, key) && !is_usual(of_b, key);
    if (went && has_page(of_b, key)) changes.went.push_back(seen.url);
  }
  std::ranges::sort(changes.moved, [](const MovedRequest& one, const MovedRequest& other) {
    return std::pair(-moved_by(one), one.url) < std::pair(-moved_by(other), other.url);
  });
  return changes;
}

}  // namespace reprise
