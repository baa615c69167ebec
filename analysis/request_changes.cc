#include "analysis/request_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/verdict.h"
#include "archive/match/browser_paths.h"
#include "archive/match/steady_request.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// Page, method and URL, and the number of the request with these.
using Key = std::pair<std::string, std::size_t>;

struct Seen {
  std::string url;
  std::vector<double> starts, ends;
};

using Requests = std::map<Key, Seen>;
using Request = Requests::value_type;

struct Side {
  std::map<std::string, std::size_t> loads;  // by page
  Requests requests;
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

std::string page_of(const Key& key) {
  return key.first.substr(0, key.first.find('\n'));
}

bool has_page(const Side& side, const Key& key) {
  return side.loads.contains(page_of(key));
}

bool is_usual(const Side& side, const Key& key) {
  auto const found = side.requests.find(key);
  if (found == side.requests.end()) return false;
  auto const page = side.loads.find(page_of(key));
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

/// Usual on one side alone, in the order of time.
std::vector<const Request*> only_in(const Side& ours, const Side& theirs) {
  std::vector<const Request*> only;
  for (const Request& each : ours.requests) {
    const Key& key = each.first;
    if (!is_usual(ours, key) || is_usual(theirs, key) || !has_page(theirs, key)) continue;
    only.push_back(&each);
  }
  std::ranges::sort(only, {}, [](const Request* request) {
    return std::pair(median(request->second.starts), request->first);
  });
  return only;
}

class ComparedSides {
 public:
  ComparedSides(const LoadResult& a, const LoadResult& b) : a_(seen_in(a)), b_(seen_in(b)) {}

  RequestChanges run() {
    for (auto const& [key, seen] : b_.requests) {
      if (is_usual(b_, key) && is_usual(a_, key)) compare(a_.requests.at(key), seen);
    }
    auto const went = only_in(a_, b_);
    std::multimap<std::string, const Request*> left;
    for (auto const* const each : went) {
      left.emplace(steady_key(*each, steady_request(each->second.url)), each);
    }
    std::set<const Request*> paired;
    for (auto const* const each : only_in(b_, a_)) {
      auto const steady = steady_request(each->second.url);
      auto const partner = left.find(steady_key(*each, steady));
      if (steady.volatile_values.empty() || partner == left.end()) {
        add_came(each->second);
        continue;
      }
      const Seen& before = partner->second->second;
      note_differing(steady_request(before.url), steady, out_.volatile_names);
      compare(before, each->second);
      paired.insert(partner->second);
      left.erase(partner);
    }
    for (auto const* const each : went) {
      if (!paired.contains(each)) out_.went.push_back(each->second.url);
    }
    std::ranges::sort(out_.moved, [](const MovedRequest& one, const MovedRequest& other) {
      return std::pair(-moved_by(one), one.url) < std::pair(-moved_by(other), other.url);
    });
    return std::move(out_);
  }

 private:
  static std::string steady_key(const Request& request, const SteadyRequest& steady) {
    return page_of(request.first) + "\n" + steady.text;
  }

  void add_came(const Seen& seen) {
    out_.came.push_back(seen.url);
    if (b_.misses.contains(seen.url)) out_.missed.push_back(seen.url);
  }

  void compare(const Seen& in_a, const Seen& in_b) {
    MovedRequest moved{.url = in_b.url, .a = times_of(in_a), .b = times_of(in_b)};
    if (moved_by(moved) >= kMovedLeastMs) out_.moved.push_back(std::move(moved));
  }

  Side a_, b_;
  RequestChanges out_;
};

}  // namespace

RequestChanges request_changes(const LoadResult& a, const LoadResult& b) {
  return ComparedSides(a, b).run();
}

}  // namespace reprise
