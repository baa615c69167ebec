#include "analysis/prediction/page_change.h"

#include <map>
#include <numeric>
#include <string_view>

#include "analysis/contribution/call_subject.h"
#include "analysis/dependency/page_nodes.h"

namespace reprise {

std::vector<std::uint32_t> nodes_taken(const Filter& filter, const DependencyGraph& graph,
                                       std::span<const ObservedPage> loads,
                                       const Entities& entities) {
  PageHosts hosts(graph.page, entities);
  std::vector<bool> is_judged(graph.nodes.size());
  std::vector<bool> is_taken(graph.nodes.size());
  for (ObservedPage const& load : loads) {
    auto const placed = place_nodes(graph, load);
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (is_judged[i] || !placed[i] || graph.nodes[i].kind != DependencyNodeKind::kRequest)
        continue;
      Call const& call = load.calls.calls[placed[i]->call];
      is_judged[i] = true;
      is_taken[i] = filter.takes(CallSubject(call, &call, hosts));
    }
  }
  std::map<std::string_view, bool> scripts;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    DependencyNode const& node = graph.nodes[i];
    if (node.kind == DependencyNodeKind::kRequest) scripts[node.name] = is_taken[i];
    auto const script = scripts.find(node.url);
    if (is_taken[i] ||
        (node.kind == DependencyNodeKind::kTask && script != scripts.end() && script->second)) {
      nodes.push_back(i);
    }
  }
  return nodes;
}

std::vector<std::uint32_t> all_nodes(const DependencyGraph& graph) {
  std::vector<std::uint32_t> nodes(graph.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0u);
  return nodes;
}

}  // namespace reprise
