#pragma once

// Which recorded request answers which request of a page, when it is replayed. Pure.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "proxy/whatif/page_requests.h"

namespace reprise {

/// By the places in `recorded`, the nodes that each request answers. Of a method and URL, the n-th
/// one answers the n-th node, and the last one all further nodes. Values of a query that differ
/// from load to load do not matter. A node whose URL is not recorded gets the next request with its
/// method and path that answers no other.
std::vector<std::set<std::uint32_t>> answered_nodes(const DependencyGraph& graph,
                                                    std::span<const whatif::PageRequest> recorded);

}  // namespace reprise
