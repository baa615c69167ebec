#include "analysis/prediction/load_plan.h"

#include <algorithm>

namespace reprise {
namespace {

/// What a dropped request initiates is not made either.
void find_dropped(LoadPlan& plan, const DependencyGraph& graph,
                  std::span<const NodeChange> changes) {
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    auto const [begin, end] = graph.edges_to(node);
    bool const is_task = graph.nodes[node].kind == DependencyNodeKind::kTask;
    plan.dropped[node] = (!is_task && (changes[node].drop || changes[node].refused)) ||
                         std::any_of(begin, end, [&](const auto& edge) {
                           bool const asks = edge.kind == DependencyKind::kInitiator ||
                                             edge.kind == DependencyKind::kParser ||
                                             edge.kind == DependencyKind::kStyle;
                           return asks && edge.evidence.named && plan.dropped[edge.from];
                         });
  }
}

void find_edges(LoadPlan& plan, const DependencyGraph& graph, const LoadParts& parts) {
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    if (!parts.nodes[node].present) continue;
    auto const [begin, end] = graph.edges_to(node);
    std::uint32_t group = 0;
    std::uint32_t alternative = 0;
    for (auto const* edge = begin; edge != end; ++edge) {
      if (edge->kind == DependencyKind::kConnection || !parts.nodes[edge->from].present) continue;
      // A dropped alternative never comes, unless all of them are dropped.
      bool const never = edge->alternative != 0 && plan.dropped[edge->from] && !plan.dropped[node];
      if (never) continue;
      if (edge->alternative == 0 || edge->alternative != alternative) ++group;
      alternative = edge->alternative;
      auto& groups = plan.groups[node];
      if (groups.empty() || groups.back() != group) groups.push_back(group);
      plan.outgoing[edge->from].push_back({.to = node, .group = group, .after = edge->after});
    }
  }
}

void find_head(LoadPlan& plan, const LoadParts& parts, std::span<const NodeChange> changes) {
  for (std::size_t node = 0; node < parts.nodes.size(); ++node) {
    NodeChange const& change = changes[node];
    bool const is_asked_for = !plan.dropped[node] || change.drop || change.refused;
    plan.scripts_of_head[node] =
        parts.nodes[node].is_of_head && is_asked_for && !change.at_hand && !change.loading;
  }
}

void find_early(LoadPlan& plan, const DependencyGraph& graph, const LoadParts& parts,
                std::span<const NodeChange> changes) {
  auto const found = std::ranges::find_if(graph.edges, [&](const DependencyEdge& edge) {
    return edge.kind == DependencyKind::kParser && parts.nodes[edge.from].present &&
           !plan.dropped[edge.from];
  });
  if (found == graph.edges.end()) return;
  plan.document = found->from;
  for (std::uint32_t node = plan.document + 1; node < graph.nodes.size(); ++node) {
    bool const is_made = graph.nodes[node].kind == DependencyNodeKind::kRequest &&
                         parts.nodes[node].present && !plan.dropped[node] && !changes[node].at_hand;
    if (!is_made) continue;
    if (changes[node].preload) plan.preloaded.push_back(node);
    if (changes[node].preconnect) plan.preconnected.push_back(node);
    if (changes[node].early_hints) plan.hinted.push_back(node);
  }
}

}  // namespace

LoadPlan load_plan(const DependencyGraph& graph, const LoadParts& parts,
                   std::span<const NodeChange> changes) {
  LoadPlan plan;
  plan.dropped.resize(graph.nodes.size());
  plan.scripts_of_head.resize(graph.nodes.size());
  plan.groups.resize(graph.nodes.size());
  plan.outgoing.resize(graph.nodes.size());
  find_dropped(plan, graph, changes);
  find_head(plan, parts, changes);
  find_edges(plan, graph, parts);
  find_early(plan, graph, parts, changes);
  return plan;
}

}  // namespace reprise
