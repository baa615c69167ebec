#include "view/dependencies.h"

#include <map>
#include <string>
#include <utility>

#include "analysis/dependency/page_nodes.h"

namespace reprise {
namespace {

/// What is between two requests: "parser, after its first byte". The run of a script stands for its
/// request.
std::string why_text(const DependencyGraph& graph, const DependencyEdge& edge) {
  auto const is_run = [&](std::uint32_t node) {
    return graph.nodes[node].kind == DependencyNodeKind::kTask;
  };
  auto const moment = is_run(edge.from) ? std::string("after its run")
                      : edge.after == DependencyAfter::kSent
                          ? std::string("after it was sent")
                          : "after its " + std::string(to_string(edge.after));
  return std::string(to_string(edge.kind)) + ", " + moment + (is_run(edge.to) ? ", to run" : "") +
         (edge.alternative > 0 ? ", or another" : "");
}

}  // namespace

boost::json::array dependencies_of(const DependencyGraph& graph, const CallTree& calls,
                                   std::span<const std::size_t> rows) {
  auto const placed = place_nodes(graph, {.calls = calls});
  auto const requests = requests_by_node(graph.nodes);
  struct Shown {
    std::string why;
    bool is_tested = false;
  };
  std::map<std::pair<std::size_t, std::size_t>, Shown> between;
  for (DependencyEdge const& edge : graph.edges) {
    auto const from = requests[edge.from];
    auto const to = requests[edge.to];
    if (!from || !to || from == to || !placed[*from] || !placed[*to]) continue;
    auto& shown = between[{rows[placed[*from]->call], rows[placed[*to]->call]}];
    if (shown.why.empty()) shown.why = why_text(graph, edge);
    shown.is_tested = shown.is_tested || edge.evidence.held_back;
  }
  boost::json::array all;
  for (auto const& [ends, shown] : between) {
    all.push_back(boost::json::array{ends.first, ends.second, shown.why, shown.is_tested ? 1 : 0});
  }
  return all;
}

}  // namespace reprise
