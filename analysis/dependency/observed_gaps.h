#pragma once

// The gaps between nodes in the loads that a graph is learnt from. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/page_nodes.h"

namespace reprise {

/// Times of different threads of the browser contradict each other by at most this.
inline constexpr std::int64_t kRoundingUs = 1'000;

/// Borrows the nodes.
class ObservedGaps {
 public:
  ObservedGaps(const std::vector<DependencyNode>& nodes, std::vector<PlacedLoad> loads);

  const std::vector<PlacedLoad>& loads() const { return loads_; }

  /// The last moment of `from` that comes before `to` in every load with both; nothing if there is
  /// none, or no such load. Of a request its end or first byte, of a task its end or start.
  std::optional<DependencyAfter> last_moment_before(std::uint32_t from, std::uint32_t to) const;

  /// Whether it ends in every load with it.
  bool always_ends(std::uint32_t node) const;

  /// The last task of a script that starts before `to` in every load; the script itself if there is
  /// no such task. Other nodes stand for themselves.
  std::uint32_t acting(std::uint32_t script, std::uint32_t to) const;
  /// The request whose script a task is; nothing if it is not a node. A request is its own.
  std::optional<std::uint32_t> request_of(std::uint32_t node) const { return request_of_[node]; }

  /// From the join of `edges`, all to `node`, to the node: of each load in which both are known.
  std::vector<double> gaps_after(std::uint32_t node, std::span<const DependencyEdge> edges) const;

  /// From that moment of `from` to the sending of `to`, in all loads with both; none if in one of
  /// them `to` did not wait to be sent, or for anything later than this connection.
  std::vector<double> connection_gaps(std::uint32_t from, std::uint32_t to,
                                      DependencyAfter after) const;

  /// Sets loads, gaps and slacks of edges that are sorted as in a graph.
  void measure(std::vector<DependencyEdge>& edges) const;

 private:
  const std::vector<DependencyNode>& nodes_;
  std::vector<PlacedLoad> loads_;
  RequestsByNode request_of_;
  std::vector<std::vector<std::uint32_t>> tasks_of_;  ///< of each request, in the order of nodes
};

/// Whether gaps vary so little that one thing follows the other.
bool is_steady(std::span<const double> gaps_us);
/// The same, and in no load it comes before what it follows.
bool follows_steadily(std::span<const double> gaps_us);

/// The join of edges in one load; nothing if none of them is known there.
std::optional<std::int64_t> join_in(const PlacedLoad& load, const DependencyEdge* begin,
                                    const DependencyEdge* end);

}  // namespace reprise
