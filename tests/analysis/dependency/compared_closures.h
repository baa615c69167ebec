#pragma once

// How far a graph that was found is the true one.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/dependency/dependency_graph.h"

namespace reprise {

/// Which nodes follow from which, over any number of edges. A connection is shared like the link,
/// another request would make it if the first one did not: its edges do not count.
class DependencyClosure {
 public:
  explicit DependencyClosure(const DependencyGraph& graph)
      : before_(graph.nodes.size(), std::vector<bool>(graph.nodes.size())) {
    for (DependencyEdge const& edge : graph.edges) {
      if (edge.kind == DependencyKind::kConnection) continue;
      before_[edge.to][edge.from] = true;
      for (std::uint32_t node = 0; node < edge.from; ++node) {
        if (before_[edge.from][node]) before_[edge.to][node] = true;
      }
    }
  }
  bool follows(std::uint32_t node, std::uint32_t from) const { return before_[node][from]; }

 private:
  std::vector<std::vector<bool>> before_;
};

/// Two graphs, by the pairs of nodes in their closures. Of nodes that both have.
struct ClosureComparison {
  std::size_t both = 0;
  std::vector<std::pair<std::string, std::string>> only_truth;  ///< labels
  std::vector<std::pair<std::string, std::string>> only_found;

  /// The share of the found ones that are true; 1 if nothing was found.
  double precision() const { return share(only_found.size()); }
  /// The share of the true ones that were found; 1 if nothing is true.
  double recall() const { return share(only_truth.size()); }

 private:
  double share(std::size_t rest) const {
    return both + rest == 0 ? 1 : static_cast<double>(both) / static_cast<double>(both + rest);
  }
};

inline ClosureComparison compare_closures(const DependencyGraph& truth,
                                          const DependencyGraph& found) {
  std::map<std::string, std::uint32_t> places;
  for (std::uint32_t i = 0; i < found.nodes.size(); ++i) places[found.nodes[i].label()] = i;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> shared;  // of truth and found
  for (std::uint32_t i = 0; i < truth.nodes.size(); ++i) {
    auto const place = places.find(truth.nodes[i].label());
    if (place != places.end()) shared.emplace_back(i, place->second);
  }
  DependencyClosure const of_truth(truth);
  DependencyClosure const of_found(found);
  ClosureComparison comparison;
  for (auto const& [from, from_found] : shared) {
    for (auto const& [to, to_found] : shared) {
      bool const is_true = of_truth.follows(to, from);
      bool const is_found = of_found.follows(to_found, from_found);
      if (is_true && is_found) ++comparison.both;
      if (is_true == is_found) continue;
      auto& only = is_true ? comparison.only_truth : comparison.only_found;
      only.emplace_back(truth.nodes[from].label(), truth.nodes[to].label());
    }
  }
  return comparison;
}

}  // namespace reprise
