#include "analysis/dependency/dependency_graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace reprise {
namespace {

constexpr std::array<std::string_view, 7> kKindNames = {
    "initiator", "parser", "script order", "style", "connection", "milestone", "await"};
constexpr std::array<std::string_view, 4> kAfterNames = {"start", "sent", "first byte", "end"};
constexpr std::array<std::string_view, 4> kJoinNames = {"sequence", "all of", "first of", "mixed"};

template <class Value, std::size_t size>
std::optional<Value> value_named(const std::array<std::string_view, size>& names,
                                 std::string_view name) {
  auto const found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Value>(found - names.begin());
}

}  // namespace

bool DependencyNode::is(Milestone milestone) const {
  return kind == DependencyNodeKind::kMilestone &&
         name == kMilestoneNames[static_cast<std::size_t>(milestone)];
}

bool DependencyNode::is_paint() const {
  return is(Milestone::kFirstContentfulPaint) || is(Milestone::kLargestContentfulPaint);
}

std::string DependencyNode::label() const {
  std::string text;
  switch (kind) {
    case DependencyNodeKind::kRequest:
      text = method + " " + name;
      break;
    case DependencyNodeKind::kTask:
      text = name + " of " + url + (function.empty() ? "" : " " + function);
      break;
    case DependencyNodeKind::kMilestone:
      text = name;
      break;
  }
  return occurrence == 0 ? text : text + " #" + std::to_string(occurrence + 1);
}

std::string_view to_string(DependencyKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}
std::optional<DependencyKind> dependency_kind(std::string_view name) {
  return value_named<DependencyKind>(kKindNames, name);
}
std::string_view to_string(DependencyAfter after) {
  return kAfterNames[static_cast<std::size_t>(after)];
}
std::optional<DependencyAfter> dependency_after(std::string_view name) {
  return value_named<DependencyAfter>(kAfterNames, name);
}
std::string_view to_string(DependencyJoin join) {
  return kJoinNames[static_cast<std::size_t>(join)];
}

void DependencyGraph::take_edges(std::vector<DependencyEdge> all) {
  sort_edges(all);
  auto const count = all.size();
  if (count > kEdgesMax) {
    // How many edges of its sort to the same node come after each edge. The fewest of these stay.
    std::vector<std::size_t> behind(count);
    std::array<std::size_t, 2> to_node{};
    for (auto i = count; i-- > 0;) {
      if (i + 1 == count || all[i + 1].to != all[i].to) to_node = {};
      bool const is_order =
          all[i].kind == DependencyKind::kScriptOrder || all[i].kind == DependencyKind::kStyle;
      bool const is_of_milestone = nodes[all[i].to].kind == DependencyNodeKind::kMilestone;
      if (!is_of_milestone) behind[i] = to_node[is_order ? 1 : 0]++;
    }
    auto sorted = behind;
    auto const limit = sorted.begin() + static_cast<std::ptrdiff_t>(kEdgesMax);
    std::ranges::nth_element(sorted, limit);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (behind[i] < *limit) all[kept++] = all[i];
    }
    all.resize(kept);
  }
  edges_not_kept = count - all.size();
  edges = std::move(all);
}

std::pair<const DependencyEdge*, const DependencyEdge*> DependencyGraph::edges_to(
    std::uint32_t node) const {
  auto const range = std::ranges::equal_range(edges, node, {}, &DependencyEdge::to);
  return {edges.data() + (range.begin() - edges.begin()),
          edges.data() + (range.end() - edges.begin())};
}

DependencyJoin DependencyGraph::join(std::uint32_t node) const {
  auto const [begin, end] = edges_to(node);
  if (end - begin <= 1) return DependencyJoin::kSequence;
  if (std::all_of(begin, end, [](const DependencyEdge& edge) { return edge.alternative == 0; })) {
    return DependencyJoin::kAllOf;
  }
  bool const one_group = std::all_of(begin, end, [first = begin->alternative](auto const& edge) {
    return edge.alternative == first;
  });
  return one_group ? DependencyJoin::kFirstOf : DependencyJoin::kMixed;
}

RequestsByNode requests_by_node(const std::vector<DependencyNode>& nodes) {
  RequestsByNode requests(nodes.size());
  std::map<std::string_view, std::uint32_t> last;
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    DependencyNode const& each = nodes[node];
    if (each.kind == DependencyNodeKind::kRequest) {
      requests[node] = last[each.name] = node;
    } else if (auto const script = last.find(each.url);
               each.kind == DependencyNodeKind::kTask && script != last.end()) {
      requests[node] = script->second;
    }
  }
  return requests;
}

void sort_edges(std::vector<DependencyEdge>& edges) {
  std::ranges::sort(edges, {}, [](const DependencyEdge& edge) {
    return std::tuple(edge.to, edge.alternative, edge.from, edge.kind, edge.after);
  });
}

}  // namespace reprise
