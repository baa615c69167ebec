#include "analysis/prediction/changed_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise {
namespace {

/// The script with another loading that each node is, or is a task of.
RequestsByNode scripts_of(RequestsByNode requests, std::span<const NodeChange> changes) {
  for (auto& request : requests) {
    if (request && !changes[*request].loading) request.reset();
  }
  return requests;
}

/// Whether the edge says that something comes after a script in the order of the document. What
/// only follows it steadily can be caused by it.
bool is_of_order(const DependencyGraph& graph, const DependencyEdge& edge) {
  if (edge.kind == DependencyKind::kMilestone) return graph.nodes[edge.to].is_paint();
  return edge.kind == DependencyKind::kScriptOrder && edge.evidence.named;
}

/// Whether it is asked for when the page is laid out, such as a background image.
bool is_of_style(const DependencyGraph& graph, std::uint32_t request) {
  auto const [begin, end] = graph.edges_to(request);
  return std::any_of(begin, end,
                     [](const auto& edge) { return edge.kind == DependencyKind::kStyle; });
}

/// Of the tasks that a named edge orders behind scripts, those with a function are listeners.
bool is_listener(const DependencyNode& node) {
  return node.kind == DependencyNodeKind::kTask && !node.function.empty();
}

/// The document whose parser found a script.
std::optional<std::uint32_t> document_of(const DependencyGraph& graph,
                                         const RequestsByNode& requests, std::uint32_t script) {
  auto const [begin, end] = graph.edges_to(script);
  auto const parsed = std::find_if(
      begin, end, [](const auto& edge) { return edge.kind == DependencyKind::kParser; });
  if (parsed == end) return std::nullopt;
  return requests[parsed->from];
}

/// The scripts in the document itself, which its parser runs, by their starts. Later ones come from
/// scripts.
std::vector<std::uint32_t> inline_runs(const DependencyGraph& graph, std::uint32_t document) {
  auto const& load_event = kMilestoneNames[static_cast<int>(Milestone::kLoadEvent)];
  std::vector<std::uint32_t> runs;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    DependencyNode const& node = graph.nodes[i];
    if (node.name == load_event) break;
    bool const is_run = node.kind == DependencyNodeKind::kTask && node.function.empty();
    if (is_run && node.url == graph.nodes[document].name) runs.push_back(i);
  }
  return runs;
}

/// Adds that deferred scripts run after the document's end, and what its parser ran before that.
class ParserWaits {
 public:
  explicit ParserWaits(DependencyGraph& graph) : graph_(graph), next_(graph.nodes.size()) {
    for (DependencyEdge const& edge : graph.edges) {
      next_[edge.from].push_back(edge.to);
      if (edge.after == DependencyAfter::kEnd) known_.emplace(edge.from, edge.to);
    }
  }

  void add(std::uint32_t task, std::uint32_t document) {
    wait(document, task, DependencyKind::kParser);
    // Its other tasks follow the script's run.
    if (!begun_.insert(graph_.nodes[task].url).second) return;
    auto const follows = that_follow(task);
    auto [runs, is_new] = runs_.try_emplace(document);
    if (is_new) runs->second = inline_runs(graph_, document);
    // The last one comes after the others.
    for (auto const run : runs->second | std::views::reverse) {
      if (!follows[run]) return wait(run, task, DependencyKind::kScriptOrder);
    }
  }

 private:
  void wait(std::uint32_t from, std::uint32_t to, DependencyKind kind) {
    if (!known_.emplace(from, to).second) return;
    next_[from].push_back(to);
    graph_.edges.push_back({.from = from,
                            .to = to,
                            .kind = kind,
                            .after = DependencyAfter::kEnd,
                            .evidence = {.named = true}});
  }

  /// By node, whether it comes after `from`.
  std::vector<bool> that_follow(std::uint32_t from) const {
    std::vector<bool> follows(next_.size());
    std::vector<std::uint32_t> found = {from};
    while (!found.empty()) {
      auto const node = found.back();
      found.pop_back();
      if (follows[node]) continue;
      follows[node] = true;
      found.insert(found.end(), next_[node].begin(), next_[node].end());
    }
    return follows;
  }

  DependencyGraph& graph_;
  std::vector<std::vector<std::uint32_t>> next_;  ///< by node
  std::set<std::pair<std::uint32_t, std::uint32_t>> known_;
  std::set<std::string_view> begun_;                          ///< scripts
  std::map<std::uint32_t, std::vector<std::uint32_t>> runs_;  ///< by document
};

}  // namespace

DependencyGraph changed_graph(const DependencyGraph& graph, std::span<const NodeChange> changes) {
  auto changed = graph;
  auto const requests = requests_by_node(graph.nodes);
  auto const scripts = scripts_of(requests, changes);
  std::erase_if(changed.edges, [&](const DependencyEdge& edge) {
    // An async script does not wait for its turn; its listeners wait for the document's end.
    auto const script = scripts[edge.to];
    if (is_listener(graph.nodes[edge.to]) && edge.evidence.named) return false;
    return script && edge.to != *script && scripts[edge.from] != script &&
           changes[*script].loading == ScriptLoading::kAsync &&
           (edge.kind == DependencyKind::kScriptOrder || edge.kind == DependencyKind::kStyle);
  });
  for (DependencyEdge& edge : changed.edges) {
    auto const script = scripts[edge.from];
    if (!script || scripts[edge.to] == script || !is_of_order(graph, edge)) continue;
    // Listeners wait for deferred scripts, too. The parser scans ahead: what is asked for after a
    // script comes from a listener of it; but not what a style sheet asks for.
    DependencyNode const& later = graph.nodes[edge.to];
    bool const listens = later.kind == DependencyNodeKind::kRequest ? !is_of_style(graph, edge.to)
                                                                    : is_listener(later);
    if (listens && changes[*script].loading == ScriptLoading::kDefer) continue;
    edge.from = *script;
    edge.after = DependencyAfter::kStart;
  }
  ParserWaits waits(changed);
  for (std::uint32_t task = 0; task < scripts.size(); ++task) {
    auto const script = scripts[task];
    if (!script || *script == task || changes[*script].loading != ScriptLoading::kDefer) continue;
    auto const document = document_of(graph, requests, *script);
    if (document) waits.add(task, *document);
  }
  sort_edges(changed.edges);
  return changed;
}

std::vector<std::uint32_t> scripts_before_inline_ones(const DependencyGraph& graph,
                                                      const PageChange& change) {
  std::set<std::uint32_t> loaded_otherwise;
  for (PageChange::Part const& part : change.parts) {
    if (part.change.loading) loaded_otherwise.insert(part.nodes.begin(), part.nodes.end());
  }
  auto const requests = requests_by_node(graph.nodes);
  std::map<std::uint32_t, std::uint32_t> last_runs;  // of scripts in a document
  std::vector<std::uint32_t> scripts;
  for (std::uint32_t task = 0; task < graph.nodes.size(); ++task) {
    auto const script = requests[task];
    bool const is_first = script && *script != task && loaded_otherwise.erase(*script) > 0;
    auto const document = is_first ? document_of(graph, requests, *script) : std::nullopt;
    if (!document) continue;
    auto const [last, is_new] = last_runs.try_emplace(*document);
    auto const runs = is_new ? inline_runs(graph, *document) : std::vector<std::uint32_t>();
    if (!runs.empty()) last->second = runs.back();
    if (last->second > task) scripts.push_back(*script);
  }
  return scripts;
}

}  // namespace reprise
