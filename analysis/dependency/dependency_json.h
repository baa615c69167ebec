#pragma once

// A dependency graph as JSON (DEPENDENCY.md). Pure.

#include <boost/json/object.hpp>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include "analysis/dependency/dependency_graph.h"
#include "pageload/results/fields.h"

namespace reprise {

inline constexpr std::size_t kDependencyBytesMax = std::size_t{64} << 20;

/// Reads an untrusted graph. Unknown fields are ignored. Errors: a sentence with the place
/// ("edges[3].from must be less than edges[3].to").
std::expected<DependencyGraph, std::string> read_dependency_graph(std::string_view text);
/// The same, of a part of another file. A fault is one of `fields`.
DependencyGraph read_dependency_graph(Fields& fields);

/// With the newline at its end.
std::string dependency_graph_json(const DependencyGraph& graph);
boost::json::object dependency_graph_object(const DependencyGraph& graph);

}  // namespace reprise
