#pragma once

// What waits for what when scripts are loaded otherwise. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/prediction/page_change.h"

namespace reprise {

/// The graph in which the scripts with a NodeChange::loading do not hold up the parser. What came
/// after such a script or its tasks by order, and the paints, wait only for the start of its
/// request, but for requests after a deferred one; what it asks for, the load event and the last
/// load wait as before. An async script runs as soon as it is there, a deferred one not before the
/// end of its document. `changes` has one element for each node.
DependencyGraph changed_graph(const DependencyGraph& graph, std::span<const NodeChange> changes);

/// The scripts with another loading after whose runs scripts in their document ran. If those need
/// them the page fails, which the graph does not show.
std::vector<std::uint32_t> scripts_before_inline_ones(const DependencyGraph& graph,
                                                      const PageChange& change);

}  // namespace reprise
