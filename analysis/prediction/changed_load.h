#pragma once

// A load as it would be under a change: what the graph says, event by event. Pure.

#include <array>
#include <optional>
#include <span>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/prediction/load_parts.h"
#include "analysis/prediction/page_change.h"

namespace reprise {

/// When the milestones are reached, in us; nothing for those that the parts or the graph has not.
using MilestoneTimes = std::array<std::optional<double>, kMilestones>;

/// Nodes start when the latest of what they wait for is there, of alternatives the earliest, and
/// after their gap; the load event does not wait for what is loose (LoadPlan) and has not begun.
/// Requests share the connections of their origin, transfers the link. `changes` has one element
/// for each node; `link_factor` is above 0. Takes time for each packet, of which there are not many
/// more than TcpLink::kPacketsMax.
MilestoneTimes changed_load(const DependencyGraph& graph, const LoadParts& parts,
                            std::span<const NodeChange> changes, double link_factor);

}  // namespace reprise
