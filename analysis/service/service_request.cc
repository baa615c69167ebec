#include "analysis/service/service_request.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/spans/span_forest.h"

namespace reprise {
namespace {

constexpr std::int64_t kNsPerUs = 1'000;

bool leaves_service(const Span& span, bool contains_any) {
  return span.kind == "client" || span.kind == "producer" || span.kind == "server" ||
         (span.kind.empty() && !contains_any);
}

std::string dependency_of(const Span& span) {
  auto const named = span.first_of({"peer.service", "db.system.name", "db.system",
                                    "messaging.system", "rpc.system.name", "rpc.system"});
  if (!named.empty()) return std::string(named);
  if (span.kind == "server" && !span.service.empty()) return span.service;
  auto const address = span.first_of({"server.address", "net.peer.name"});
  if (!address.empty()) return std::string(address);
  auto host = url_of(span).host;
  return host.empty() ? span.name : std::move(host);
}

class RequestReader {
 public:
  RequestReader(const SpanSet& set, const SpanForest& forest) : set_(set), forest_(forest) {}

  ServiceRequest read(std::uint32_t place) {
    const Span& root = set_.spans[place];
    ServiceRequest request{.started_ns = root.start_ns,
                           .took_us = (root.end_ns - root.start_ns) / kNsPerUs};
    collect(place);
    std::ranges::sort(found_, [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(set_.spans[a].start_ns, a) < std::pair(set_.spans[b].start_ns, b);
    });
    for (auto const each : found_) add(request, root, set_.spans[each]);
    number(request);
    return request;
  }

  std::uint64_t early() const { return early_; }
  std::uint64_t beyond() const { return beyond_; }

 private:
  void collect(std::uint32_t place) {
    found_.clear();
    std::vector<std::uint32_t> waiting = forest_.inside[place];
    while (!waiting.empty()) {
      auto const each = waiting.back();
      waiting.pop_back();
      const Span& span = set_.spans[each];
      auto const& inside = forest_.inside[each];
      if (span.kind == "consumer") continue;
      if (!leaves_service(span, !inside.empty())) {
        waiting.insert(waiting.end(), inside.begin(), inside.end());
      } else if (span.start_ns + Span::kGrainNs < set_.spans[place].start_ns) {
        ++early_;
      } else if (found_.size() == ServiceRequest::kCallsMax) {
        ++beyond_;
      } else {
        found_.push_back(each);
      }
    }
  }

  static void add(ServiceRequest& request, const Span& root, const Span& span) {
    auto const start = std::max<std::int64_t>((span.start_ns - root.start_ns) / kNsPerUs, 0);
    ServiceAttempt const attempt{.start_us = start,
                                 .end_us = start + (span.end_ns - span.start_ns) / kNsPerUs,
                                 .failed = span.failed};
    auto dependency = dependency_of(span);
    auto operation = endpoint_of(span);
    for (ServiceCall& earlier : request.calls) {
      bool const again = earlier.attempts.back().failed && earlier.dependency == dependency &&
                         earlier.operation == operation &&
                         earlier.end_us() <= attempt.start_us + Span::kGrainNs / kNsPerUs &&
                         earlier.attempts.size() < ServiceCall::kAttemptsMax;
      if (!again) continue;
      earlier.attempts.push_back(attempt);
      return;
    }
    request.calls.push_back({.dependency = std::move(dependency),
                             .operation = std::move(operation),
                             .attempts = {attempt}});
  }

  static void number(ServiceRequest& request) {
    std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> seen;
    for (ServiceCall& call : request.calls) {
      call.occurrence = seen[{call.dependency, call.operation}]++;
    }
  }

  const SpanSet& set_;
  const SpanForest& forest_;
  std::vector<std::uint32_t> found_;
  std::uint64_t early_ = 0;
  std::uint64_t beyond_ = 0;
};

/// Those in a tree: without copies that came twice, and circles.
std::vector<bool> in_trees(const SpanForest& forest) {
  std::vector<bool> found(forest.inside.size());
  auto waiting = forest.roots;
  while (!waiting.empty()) {
    auto const span = waiting.back();
    waiting.pop_back();
    found[span] = true;
    auto const& inside = forest.inside[span];
    waiting.insert(waiting.end(), inside.begin(), inside.end());
  }
  return found;
}

}  // namespace

std::vector<ServiceEndpoint> service_endpoints(const SpanSet& set, std::vector<CallLoss>& losses) {
  auto const forest = forest_of(set);
  for (const CallLoss& loss : forest.losses) add_loss(losses, loss.what, loss.count);
  std::vector<bool> is_root(set.spans.size());
  for (auto const root : forest.roots) is_root[root] = true;
  auto const is_in_tree = in_trees(forest);
  RequestReader reader(set, forest);
  std::map<std::pair<std::string, std::string>, ServiceEndpoint> endpoints;
  for (std::uint32_t i = 0; i < set.spans.size(); ++i) {
    const Span& span = set.spans[i];
    bool const asks = span.kind == "client" || span.kind == "producer" || span.kind == "consumer";
    bool const is_request = span.kind == "server" || (is_root[i] && !asks);
    if (!is_request || !is_in_tree[i]) continue;
    auto request = reader.read(i);
    if (span.kind != "server" && request.calls.empty()) continue;
    ServiceEndpoint& endpoint = endpoints[{span.service, endpoint_of(span)}];
    endpoint.requests.push_back(std::move(request));
  }
  if (reader.early() > 0) add_loss(losses, "calls that begin before their request", reader.early());
  if (reader.beyond() > 0) add_loss(losses, "calls beyond 1,000 of a request", reader.beyond());
  std::vector<ServiceEndpoint> all;
  for (auto& [key, endpoint] : endpoints) {
    endpoint.service = key.first;
    endpoint.endpoint = key.second;
    std::ranges::sort(endpoint.requests, {}, [](const ServiceRequest& request) {
      return std::pair(request.started_ns, request.took_us);
    });
    all.push_back(std::move(endpoint));
  }
  std::ranges::sort(all, [](const ServiceEndpoint& a, const ServiceEndpoint& b) {
    if (a.requests.size() != b.requests.size()) return a.requests.size() > b.requests.size();
    return std::pair(a.service, a.endpoint) < std::pair(b.service, b.endpoint);
  });
  return all;
}

}  // namespace reprise
