#include "analysis/timelines/timelines.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/calls/interval.h"
#include "analysis/contribution/chain.h"
#include "analysis/differences/alignment.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

constexpr std::string_view kWhole = "request";    // a phase, where the phases are unknown
constexpr std::string_view kRequest = "request";  // an attribute

/// For alignment: one exchange a request, at the same place.
RecordedPage page_of(const PageLoad& load) {
  RecordedPage page;
  for (auto const& request : load.requests) {
    auto const path = request.url.find('/', request.url.find("://") + 3);
    RecordedExchange made;
    made.ordinal = static_cast<std::uint32_t>(page.exchanges.size());
    made.method = request.method;
    made.origin = request.url.substr(0, path);
    made.host = url_parts(request.url).host;
    made.target = path == std::string::npos ? "/" : request.url.substr(path);
    made.media_type = request.mime_type;
    page.exchanges.push_back(std::move(made));
  }
  return page;
}

/// The request that each call is, or is in: its place in the load.
std::vector<std::optional<std::size_t>> requests_of(const CallTree& tree) {
  std::vector<std::optional<std::size_t>> found(tree.calls.size());
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    Call const& call = tree.calls[i];
    if (call.parent != kNoParent) found[i] = found[call.parent];
    auto const place = call.attribute(kRequest);
    std::size_t number = 0;
    auto const [end, error] = std::from_chars(place.data(), place.data() + place.size(), number);
    if (error == std::errc()) found[i] = number;
  }
  return found;
}

/// The phase that a call of a request is, or is in.
std::string_view phase_of(const CallTree& tree, std::size_t call) {
  auto phase = kWhole;
  for (auto at = call;; at = tree.calls[at].parent) {
    if (tree.calls[at].kind == CallKind::kPhase) phase = tree.calls[at].name;
    if (tree.calls[at].parent == kNoParent) return phase;
  }
}

/// By phase; of one request.
using PhaseTimes = std::vector<std::pair<std::string, std::int64_t>>;

void add_time(PhaseTimes& times, std::string_view phase, std::int64_t us) {
  if (us == 0) return;
  for (auto& [name, sum] : times) {
    if (name == phase) {
      sum += us;
      return;
    }
  }
  times.emplace_back(phase, us);
}

struct SideTimes {
  std::map<std::size_t, PhaseTimes> requests;
  std::int64_t rest_us = 0;  // of the chain, outside all requests
};

SideTimes chain_times(const LoadTimeline& of) {
  auto const shares = share_chain(of.tree);
  auto const requests = requests_of(of.tree);
  SideTimes times{.requests = {}, .rest_us = shares.gap_us};
  for (std::size_t i = 0; i < of.tree.calls.size(); ++i) {
    if (requests[i]) {
      add_time(times.requests[*requests[i]], phase_of(of.tree, i), shares.calls[i]);
    } else {
      times.rest_us += shares.calls[i];
    }
  }
  return times;
}

/// Of one request, from its start to its end.
SideTimes own_times(const LoadTimeline& of, std::size_t request) {
  auto const requests = requests_of(of.tree);
  SideTimes times;
  std::int64_t whole_us = 0;
  std::int64_t phases_us = 0;
  for (std::size_t i = 0; i < of.tree.calls.size(); ++i) {
    Call const& call = of.tree.calls[i];
    if (requests[i] != request) continue;
    auto const took_us = call.end_us - call.start_us;
    if (call.kind == CallKind::kRequest) whole_us += took_us;
    if (call.kind != CallKind::kPhase) continue;
    phases_us += took_us;
    add_time(times.requests[request], call.name, took_us);
  }
  add_time(times.requests[request], kWhole, whole_us - phases_us);
  return times;
}

constexpr std::string_view kPhaseOrder[] = {"queued", "dns",  "connect", "tls",
                                            "send",   "wait", "receive", kWhole};

void set_times(RequestCost& cost, const SideTimes& a, const SideTimes& b) {
  std::map<std::string, TimePair> phases;
  auto const collect = [&](const std::optional<std::size_t>& request, const SideTimes& side,
                           std::int64_t TimePair::* us) {
    auto const found = request ? side.requests.find(*request) : side.requests.end();
    if (found == side.requests.end()) return;
    for (auto const& [name, time_us] : found->second) {
      phases[name].*us += time_us;
      cost.time.*us += time_us;
    }
  };
  collect(cost.a, a, &TimePair::a_us);
  collect(cost.b, b, &TimePair::b_us);
  for (auto const name : kPhaseOrder) {
    auto const found = phases.find(std::string(name));
    if (found != phases.end()) cost.phases.push_back({found->first, found->second});
  }
}

}  // namespace

LoadTimeline LoadTimeline::of(const PageLoad& load, CallTree tree) {
  std::size_t next = 0;  // the tree has them in order, without those that have no start
  for (Call& call : tree.calls) {
    if (call.kind != CallKind::kRequest || call.parent != kNoParent) continue;
    auto at = next;
    while (at < load.requests.size() &&
           (load.requests[at].url != call.name || load.requests[at].start_ms < 0)) {
      ++at;
    }
    if (at == load.requests.size()) continue;
    call.set(kRequest, std::to_string(at));
    next = at + 1;
  }
  return {.load = load, .tree = std::move(tree)};
}

LoadTimeline LoadTimeline::within(std::int64_t from_us, std::int64_t to_us) const {
  return {.load = load, .tree = reprise::within(tree, from_us, to_us)};
}

std::vector<std::string> request_facts(const PageRequest& a, const PageRequest& b) {
  std::vector<std::string> facts;
  auto const add = [&facts](std::string_view what, const std::string& of_a,
                            const std::string& of_b) {
    if (of_a == of_b || of_a.empty() || of_b.empty()) return;
    facts.push_back(std::string(what) + " " + of_b + " instead of " + of_a);
  };
  add("URL", a.url, b.url);
  add("status", std::to_string(a.status), std::to_string(b.status));
  add("protocol", a.protocol, b.protocol);
  add("priority", a.priority, b.priority);
  add("type", a.mime_type, b.mime_type);
  add("initiator", a.initiator, b.initiator);
  add("cache", a.from_cache ? "hit" : "not used", b.from_cache ? "hit" : "not used");
  add("failure", a.failure.empty() ? "none" : a.failure, b.failure.empty() ? "none" : b.failure);
  add("bytes on the wire", std::to_string(a.encoded_bytes), std::to_string(b.encoded_bytes));
  if (a.body_sha256 && b.body_sha256 && a.body_sha256 != b.body_sha256) {
    facts.emplace_back("another body");
  }
  auto const connects = [](const PageRequest& of) {
    return of.timing && of.timing->connect_start_ms >= 0;
  };
  if (a.timing && b.timing && connects(a) != connects(b)) {
    facts.emplace_back(connects(b) ? "a new connection instead of one in use"
                                   : "a connection in use instead of a new one");
  }
  return facts;
}

TimelineDifference compare_timelines(const LoadTimeline& a, const LoadTimeline& b) {
  auto const of_a = chain_times(a);
  auto const of_b = chain_times(b);
  TimelineDifference made{.window = {a.tree.window_us, b.tree.window_us},
                          .gaps = {of_a.rest_us, of_b.rest_us},
                          .requests = {}};
  auto const alignment = align(page_of(a.load), page_of(b.load));
  for (auto const& pair : alignment.pairs) {
    made.requests.push_back({.a = pair.a, .b = pair.b});
    made.requests.back().facts = request_facts(a.load.requests[pair.a], b.load.requests[pair.b]);
  }
  for (auto const i : alignment.only_a) made.requests.push_back({.a = i, .b = std::nullopt});
  for (auto const i : alignment.only_b) made.requests.push_back({.a = std::nullopt, .b = i});
  for (RequestCost& cost : made.requests) set_times(cost, of_a, of_b);
  std::ranges::sort(made.requests, {}, [](const RequestCost& cost) {
    return std::tuple(-std::abs(cost.time.change_us()), cost.b, cost.a);
  });
  return made;
}

TimelineDifference compare_requests(const LoadTimeline& a, std::size_t request_a,
                                    const LoadTimeline& b, std::size_t request_b) {
  RequestCost cost{.a = request_a, .b = request_b};
  cost.facts = request_facts(a.load.requests[request_a], b.load.requests[request_b]);
  set_times(cost, own_times(a, request_a), own_times(b, request_b));
  return {.window = cost.time, .gaps = {}, .requests = {std::move(cost)}};
}

}  // namespace reprise
