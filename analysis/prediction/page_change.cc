#include "analysis/prediction/page_change.h"

#include <numeric>

namespace reprise {

std::vector<std::uint32_t> all_nodes(const DependencyGraph& graph) {
  std::vector<std::uint32_t> nodes(graph.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0u);
  return nodes;
}

}  // namespace reprise
