// Dependency graphs: whatever is written, it is a graph or a fault; a graph comes back as it was,
// and has no cycle.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/dependency/dependency_json.h"
#include "tests/analysis/dependency/compared_closures.h"

using namespace reprise;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto const graph = read_dependency_graph({reinterpret_cast<const char*>(data), size});
  if (!graph) {
    check(!graph.error().empty());
    return 0;
  }
  auto const text = dependency_graph_json(*graph);
  auto const again = read_dependency_graph(text);
  check(again && dependency_graph_json(*again) == text);
  DependencyClosure const closure(*graph);
  for (std::uint32_t node = 0; node < graph->nodes.size(); ++node) {
    check(!closure.follows(node, node));
  }
  auto const comparison = compare_closures(*graph, *again);
  check(comparison.only_truth.empty() && comparison.only_found.empty());
  return 0;
}
