#pragma once

// What waits for what in the requests to one endpoint of a service. Spans do not carry it: it is
// inferred from many requests (SERVICE.md says how). Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/service/service_request.h"

namespace reprise {

/// One request by the nodes of its graph: null for calls that it did not make.
struct PlacedRequest {
  const ServiceRequest* request = nullptr;
  std::vector<const ServiceCall*> calls;  ///< of each node but the answer
};

struct ServiceGraph {
  /// More calls are the service's own work, and counted.
  static constexpr std::size_t kCallsMax = 200;
  /// The graph is learnt from so many requests, evenly chosen.
  static constexpr std::size_t kLearntMax = 2'000;
  /// Fewer requests do not tell what waits for what.
  static constexpr std::size_t kRequestsMin = 100;

  /// The name of a node is its dependency and operation, its type the dependency. The last node is
  /// the answer, a milestone. Of an edge without evidence it is only known that the one call always
  /// ended before the other began: an ambiguous join.
  DependencyGraph graph;
  std::vector<std::uint32_t> background;  ///< calls that nothing waits for
  std::vector<std::uint32_t> retried;     ///< of each node, in how many requests it was
  std::uint64_t calls_not_kept = 0;
  /// Times in the traces are rounded to this.
  std::int64_t grain_us = 0;

  std::uint32_t answer() const { return static_cast<std::uint32_t>(graph.nodes.size() - 1); }
  /// Edges without evidence, as places in `graph.edges`.
  std::vector<std::uint32_t> ambiguous() const;
};

/// `endpoint` has a request. With fewer than kRequestsMin requests most joins are ambiguous.
ServiceGraph learn_service(const ServiceEndpoint& endpoint);

/// The requests by the graph's nodes. Borrows them.
std::vector<PlacedRequest> placed_requests(const ServiceGraph& graph,
                                           std::span<const ServiceRequest> requests);

/// The join of what a node waits for, of those moments that are known; 0, the start of the request,
/// if none is. `end_us(node)` is a std::optional.
template <class End>
std::int64_t join_of(const DependencyGraph& graph, std::uint32_t node, const End& end_us) {
  auto const [begin, end] = graph.edges_to(node);
  return join_moments(begin, end, [&](const DependencyEdge& edge) { return end_us(edge.from); })
      .value_or(0);
}

}  // namespace reprise
