#include "analysis/service/service_graph.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "analysis/service/service_learner.h"
#include "analysis/verdict.h"

namespace reprise {
namespace {

/// Some tracers round to ms.
constexpr std::int64_t kCoarseGrainUs = 1'000;
/// Times that are not rounded to ms are rounded to this on their way here.
constexpr std::int64_t kFineGrainUs = 2;

using NodeKey = std::tuple<std::string_view, std::string_view, std::uint32_t>;

NodeKey key_of(const ServiceCall& call) {
  return {call.dependency, call.operation, call.occurrence};
}

/// The most frequent kinds of calls.
std::map<NodeKey, std::uint32_t> kinds_of_calls(std::span<const ServiceRequest> requests) {
  std::map<NodeKey, std::uint32_t> count;
  for (ServiceRequest const& request : requests) {
    for (ServiceCall const& call : request.calls) ++count[key_of(call)];
  }
  std::vector<std::pair<std::uint32_t, NodeKey>> order;
  for (auto const& [key, times] : count) order.emplace_back(times, key);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (order.size() > ServiceGraph::kCallsMax) order.resize(ServiceGraph::kCallsMax);
  std::map<NodeKey, std::uint32_t> kinds;
  for (std::uint32_t i = 0; i < order.size(); ++i) kinds[order[i].second] = i;
  return kinds;
}

std::int64_t grain_of(std::span<const ServiceRequest> requests) {
  bool any = false;
  for (ServiceRequest const& request : requests) {
    for (ServiceCall const& call : request.calls) {
      any = true;
      // Times that were floating-point numbers on their way here are off by a little.
      auto const off = (call.start_us() + 1) % kCoarseGrainUs;
      if (off > 2) return kFineGrainUs;
    }
  }
  return any ? kCoarseGrainUs : kFineGrainUs;
}

std::vector<CallTimes> times_of(const ServiceRequest& request,
                                const std::map<NodeKey, std::uint32_t>& kinds) {
  std::vector<CallTimes> row(kinds.size() + 1);
  for (ServiceCall const& call : request.calls) {
    auto const kind = kinds.find(key_of(call));
    if (kind == kinds.end()) continue;
    row[kind->second] = {.present = true, .start_us = call.start_us(), .end_us = call.end_us()};
  }
  row.back() = {.present = true, .start_us = request.took_us, .end_us = request.took_us};
  return row;
}

DependencyNode node_of(const NodeKey& key) {
  auto const& [dependency, operation, occurrence] = key;
  DependencyNode node{.kind = DependencyNodeKind::kRequest, .type = std::string(dependency)};
  node.name = std::string(dependency) + " " + std::string(operation);
  node.function = operation;
  node.occurrence = occurrence;
  return node;
}

}  // namespace

std::vector<std::uint32_t> ServiceGraph::ambiguous() const {
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < graph.edges.size(); ++i) {
    if (graph.edges[i].evidence == DependencyEvidence()) places.push_back(i);
  }
  return places;
}

ServiceGraph learn_service(const ServiceEndpoint& endpoint) {
  std::span<const ServiceRequest> const requests = endpoint.requests;
  auto kinds = kinds_of_calls(requests);
  ServiceGraph out;
  out.grain_us = grain_of(requests);
  std::vector<std::vector<CallTimes>> rows;
  auto const learnt = std::min(requests.size(), ServiceGraph::kLearntMax);
  for (std::size_t i = 0; i < learnt; ++i) {
    rows.push_back(times_of(requests[i * requests.size() / learnt], kinds));
  }
  auto learned = learn_waits(std::move(rows), out.grain_us);
  std::vector<std::uint32_t> place_of(kinds.size());  // by the old place
  for (std::uint32_t i = 0; i + 1 < learned.order.size(); ++i) place_of[learned.order[i]] = i;
  out.graph.page = endpoint.endpoint;
  out.graph.loads = static_cast<std::uint32_t>(requests.size());
  out.graph.nodes.resize(kinds.size() + 1);
  out.graph.nodes.back() = {.kind = DependencyNodeKind::kMilestone, .name = "answer"};
  for (auto& [key, kind] : kinds) {
    kind = place_of[kind];
    out.graph.nodes[kind] = node_of(key);
  }
  out.graph.edges = std::move(learned.edges);
  out.background = std::move(learned.background);
  out.retried.resize(out.graph.nodes.size());

  std::vector<std::vector<double>> starts(out.graph.nodes.size());
  std::vector<std::vector<double>> ends(out.graph.nodes.size());
  for (ServiceRequest const& request : requests) {
    for (ServiceCall const& call : request.calls) {
      auto const kind = kinds.find(key_of(call));
      if (kind == kinds.end()) {
        ++out.calls_not_kept;
        continue;
      }
      starts[kind->second].push_back(static_cast<double>(call.start_us()));
      ends[kind->second].push_back(static_cast<double>(call.end_us()));
      if (call.attempts.size() > 1) ++out.retried[kind->second];
    }
    starts.back().push_back(static_cast<double>(request.took_us));
    ends.back().push_back(static_cast<double>(request.took_us));
  }
  for (std::size_t i = 0; i < out.graph.nodes.size(); ++i) {
    DependencyNode& node = out.graph.nodes[i];
    node.loads = static_cast<std::uint32_t>(starts[i].size());
    node.start_us = static_cast<std::int64_t>(median(starts[i]));
    node.end_us = static_cast<std::int64_t>(median(ends[i]));
  }
  return out;
}

std::vector<PlacedRequest> placed_requests(const ServiceGraph& graph,
                                           std::span<const ServiceRequest> requests) {
  std::map<NodeKey, std::uint32_t> kinds;
  for (std::uint32_t i = 0; i < graph.answer(); ++i) {
    DependencyNode const& node = graph.graph.nodes[i];
    kinds[{node.type, node.function, node.occurrence}] = i;
  }
  std::vector<PlacedRequest> placed;
  placed.reserve(requests.size());
  for (ServiceRequest const& request : requests) {
    PlacedRequest& out = placed.emplace_back();
    out.request = &request;
    out.calls.resize(graph.answer());
    for (ServiceCall const& call : request.calls) {
      auto const kind = kinds.find(key_of(call));
      if (kind != kinds.end()) out.calls[kind->second] = &call;
    }
  }
  return placed;
}

}  // namespace reprise
