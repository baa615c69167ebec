// What perturbations told, beside an archive: whatever is written, it is read or a fault; it comes
// back as it was; and a search that takes it has no cycle.

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "analysis/dependency/page_nodes.h"
#include "analysis/dependency/perturbation.h"
#include "analysis/dependency/tested_dependencies.h"

using namespace reprise;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

/// The requests of a graph, one after the other.
ObservedPage load_of(const DependencyGraph& graph) {
  ObservedPage load;
  std::int64_t at_us = 0;
  for (DependencyNode const& node : graph.nodes) {
    if (node.kind != DependencyNodeKind::kRequest) continue;
    load.calls.calls.push_back({.name = node.name,
                                .start_us = at_us,
                                .end_us = at_us + 1'000,
                                .attributes = {Attribute("method", node.method)}});
    at_us += 2'000;
  }
  return load;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto tested = read_tested_dependencies({reinterpret_cast<const char*>(data), size});
  if (!tested) {
    check(!tested.error().empty());
    return 0;
  }
  auto const text = tested_dependencies_json(*tested);
  auto again = read_tested_dependencies(text);
  check(again && tested_dependencies_json(*again) == text);
  for (TestedPage const& page : tested->pages) {
    auto const load = load_of(page.graph);
    std::span<const ObservedPage> const loads(&load, 1);
    DependencySearch search(find_nodes(loads), loads);
    search.take_earlier(page);
    for (DependencyEdge const& edge : search.graph().edges) check(edge.from < edge.to);
    for (DependencyTest const& test : search.tests()) check(!test.says_nothing());
  }
  return 0;
}
