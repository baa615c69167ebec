#pragma once

// The same requests and tasks in several loads of a page. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_page.h"

namespace reprise {

/// When a node happened in one load, in us since its start. Of tasks and milestones the times
/// between start and end are the start.
struct NodeTimes {
  std::int64_t start_us = 0;
  std::int64_t sent_us = 0;
  std::int64_t first_byte_us = 0;  ///< of a response without a known one, its end
  std::int64_t end_us = 0;
  std::uint32_t call = kNoParent;  ///< in the tree; kNoParent: a milestone
  bool is_unfinished = false;      ///< a request that did not end: `end_us` is made up

  std::int64_t at(DependencyAfter after) const;
  /// Whether there was such a moment: a request that did not end has no end, and its first byte
  /// only if one was seen.
  bool has(DependencyAfter after) const;
  /// The moment that an edge of this kind holds up.
  std::int64_t held_up(DependencyKind kind) const {
    return kind == DependencyKind::kConnection ? sent_us : start_us;
  }
};

/// A load, by the nodes of a graph; nothing where a node does not occur.
using PlacedLoad = std::vector<std::optional<NodeTimes>>;

/// Scripts that run for less are a part of what surrounds them.
inline constexpr std::int64_t kTaskNodeUsMin = 1'000;

/// A graph without edges: the requests, tasks and milestones that occur in at least half of the
/// loads and, of several loads, in two. Requests are the same if method and URL are, without the
/// values of the query that occur in one load only. Tasks are the outermost ones of a script, with
/// a median length of at least kTaskNodeUsMin.
DependencyGraph find_nodes(std::span<const ObservedPage> loads);

/// The nodes of a graph in another load of the page.
PlacedLoad place_nodes(const DependencyGraph& graph, const ObservedPage& load);

}  // namespace reprise
