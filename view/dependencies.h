#pragma once

// What the requests of a load wait for, by the graph of its page. Pure.

#include <boost/json/array.hpp>
#include <cstddef>
#include <span>

#include "analysis/calls/call.h"
#include "analysis/dependency/dependency_graph.h"

namespace reprise {

/// `dependencies` in page/MODEL.md. `calls` are requests, at the places `rows` of the load.
boost::json::array dependencies_of(const DependencyGraph& graph, const CallTree& calls,
                                   std::span<const std::size_t> rows);

}  // namespace reprise
