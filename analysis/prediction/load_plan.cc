#include "analysis/prediction/load_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/prediction/changed_node.h"

namespace reprise {
namespace {

/// Whether an edge says what asked for a node.
bool asks(const DependencyEdge& edge) {
  return edge.evidence.named &&
         (edge.kind == DependencyKind::kInitiator || edge.kind == DependencyKind::kParser ||
          edge.kind == DependencyKind::kStyle);
}

/// What a dropped request initiates is not made either.
void find_dropped(LoadPlan& plan, const DependencyGraph& graph,
                  std::span<const NodeChange> changes) {
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    auto const [begin, end] = graph.edges_to(node);
    bool const is_task = graph.nodes[node].kind == DependencyNodeKind::kTask;
    plan.absent[node] = std::any_of(
        begin, end, [&](const auto& edge) { return asks(edge) && plan.dropped[edge.from]; });
    plan.dropped[node] =
        plan.absent[node] || (!is_task && (changes[node].drop || changes[node].refused));
  }
}

/// By node, the document that it belongs to; `page` if that is not known. Style sheets of the page
/// can stand before what a frame asks for: of several documents, the latest is meant.
std::vector<std::uint32_t> documents_of(const DependencyGraph& graph, std::uint32_t page) {
  std::vector<std::uint32_t> documents(graph.nodes.size(), page);
  for (DependencyEdge const& edge : graph.edges) {  // in the order of their ends
    bool const is_document = graph.nodes[edge.from].type == "Document";
    auto const document = is_document ? edge.from : documents[edge.from];
    if (asks(edge)) documents[edge.to] = std::max(documents[edge.to], document);
  }
  return documents;
}

/// The first document whose parser found a request. Empty if this load has no such document.
std::optional<std::uint32_t> first_document(const LoadPlan& plan, const DependencyGraph& graph,
                                            const LoadParts& parts,
                                            const RequestsByNode& requests) {
  auto const found = std::ranges::find_if(graph.edges, [&](const DependencyEdge& edge) {
    return edge.kind == DependencyKind::kParser && parts.nodes[edge.from].present &&
           !plan.dropped[edge.from];
  });
  if (found == graph.edges.end()) return std::nullopt;
  return requests[found->from].value_or(found->from);
}

/// Where the parser goes on without a script that it no longer waits for: after the run of the
/// script before it. Without one before it: where the run of a dropped script would be, or at the
/// start of one that is loaded otherwise, as in changed_graph().
class ParserWithoutScripts {
 public:
  ParserWithoutScripts(const DependencyGraph& graph, const LoadParts& parts,
                       const RequestsByNode& requests, const std::vector<std::uint32_t>& documents)
      : graph_(graph), parts_(parts), requests_(requests), documents_(documents) {}

  void find(LoadPlan& plan, std::span<const NodeChange> changes) const {
    std::map<std::uint32_t, std::uint32_t> last_runs;  // by document, of those that it waits for
    for (std::uint32_t run = 0; run < graph_.nodes.size(); ++run) {
      if (!is_blocking_run(run)) continue;
      auto const script = *requests_[run];
      auto const document = is_document(script) ? script : documents_[script];
      bool const is_dropped = plan.dropped[script];
      plan.deferred[run] = changes[script].loading == ScriptLoading::kDefer;
      if (!is_dropped && !changes[script].loading) {
        last_runs[document] = run;
      } else if (auto const last = last_runs.find(document); last != last_runs.end()) {
        plan.goes_on[run] = {.node = last->second, .after = DependencyAfter::kEnd};
      } else if (is_dropped) {
        plan.goes_on[run] = {.node = run, .after = DependencyAfter::kEnd};
      } else {
        plan.goes_on[run] = {.node = script, .after = DependencyAfter::kStart};
      }
    }
  }

 private:
  bool is_document(std::uint32_t node) const { return graph_.nodes[node].type == "Document"; }

  /// Of a script that held up the parser, or that is in the document.
  bool is_blocking_run(std::uint32_t node) const {
    DependencyNode const& task = graph_.nodes[node];
    bool const is_run = task.kind == DependencyNodeKind::kTask && task.function.empty() &&
                        parts_.nodes[node].present && requests_[node];
    if (!is_run) return false;
    NodeParts const& script = parts_.nodes[*requests_[node]];
    bool const is_first = task.occurrence == 0 || is_document(*requests_[node]);
    bool const is_urgent = script.urgency.value_or(kUrgencyMedium) < kUrgencyLow;
    return is_first && script.present && is_urgent && !script.blocks_nothing;
  }

  const DependencyGraph& graph_;
  const LoadParts& parts_;
  const RequestsByNode& requests_;
  const std::vector<std::uint32_t>& documents_;
};

bool is_first_paint(const DependencyGraph& graph, std::uint32_t node) {
  return graph.nodes[node].is(Milestone::kFirstContentfulPaint);
}

void find_work(LoadPlan& plan, const LoadParts& parts) {
  for (std::uint32_t i = 0; i < parts.work.size(); ++i) {
    if (plan.is_done(parts.work[i])) plan.work[plan.begin_of(parts.work[i]).node].push_back(i);
  }
}

/// Whether the largest paint is of another element than in the observed load: nobody knows of
/// which, but it comes with the first paint or after it.
bool paints_another(const LoadPlan& plan, const DependencyGraph& graph, const LoadParts& parts,
                    std::uint32_t node) {
  if (!graph.nodes[node].is(Milestone::kLargestContentfulPaint)) return false;
  auto const image = largest_image(graph);
  auto const [begin, end] = graph.edges_to(node);
  return image && plan.dropped[*image] && std::any_of(begin, end, [&](const auto& edge) {
           return parts.nodes[edge.from].present && is_first_paint(graph, edge.from);
         });
}

void find_edges(LoadPlan& plan, const DependencyGraph& graph, const LoadParts& parts) {
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    if (!parts.nodes[node].present) continue;
    bool const is_another = paints_another(plan, graph, parts, node);
    auto const [begin, end] = graph.edges_to(node);
    std::uint32_t group = 0;
    std::uint32_t alternative = 0;
    for (auto const* edge = begin; edge != end; ++edge) {
      if (edge->kind == DependencyKind::kConnection || !parts.nodes[edge->from].present) continue;
      if (is_another && !is_first_paint(graph, edge->from)) continue;
      // HTML 4.12.1.1: a script that failed waits for no style sheet.
      if (plan.absent[node] && edge->kind == DependencyKind::kStyle) continue;
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

/// What the load event waits for only if it has begun.
class LooseGroups {
 public:
  LooseGroups(const DependencyGraph& graph, const LoadParts& parts, const RequestsByNode& requests)
      : graph_(graph), parts_(parts), requests_(requests) {}

  void find(LoadPlan& plan) const {
    auto const event = std::ranges::find_if(
        graph_.nodes, [](const auto& node) { return node.is(Milestone::kLoadEvent); });
    if (event == graph_.nodes.end()) return;
    plan.load_event = static_cast<std::uint32_t>(event - graph_.nodes.begin());
    std::vector<Group> firm, behind;
    auto const groups = groups_to(plan, *plan.load_event);
    auto const is_behind = find_behind(groups);
    for (std::uint32_t node = 0; node < groups.size(); ++node) {
      if (!groups[node]) continue;
      auto const begins = requests_[node].value_or(node);
      (is_behind[node] ? behind : firm)
          .push_back({.number = *groups[node],
                      .begins = begins,
                      .begun_us = parts_.nodes[begins].start_us,
                      .ended_us = parts_.nodes[node].end_us});
    }
    // In the observed load, too, something else had to be under way until each began.
    double latest_us = 0;
    for (Group const& each : firm) latest_us = std::max(latest_us, each.ended_us);
    std::ranges::sort(behind, {},
                      [](const Group& each) { return std::tuple(each.begun_us, each.number); });
    for (Group const& each : behind) {
      if (each.begun_us > latest_us) break;
      plan.loose[each.number] = each.begins;
      latest_us = std::max(latest_us, each.ended_us);
    }
  }

 private:
  using Groups = std::vector<std::optional<std::uint32_t>>;  // by node
  struct Group {
    std::uint32_t number = 0, begins = 0;
    double begun_us = 0, ended_us = 0;
  };

  Groups groups_to(const LoadPlan& plan, std::uint32_t to) const {
    Groups groups(graph_.nodes.size());
    for (std::uint32_t node = 0; node < groups.size(); ++node) {
      for (LoadPlan::Outgoing const& edge : plan.outgoing[node]) {
        if (edge.to == to) groups[node] = edge.group;
      }
    }
    return groups;
  }

  /// Asked for by what does not hold up the load event and comes late enough to come after it.
  std::vector<bool> find_behind(const Groups& groups) const {
    std::vector<bool> listens(graph_.nodes.size());  // to DOMContentLoaded, which comes before it
    std::vector<bool> is_behind(graph_.nodes.size());
    for (DependencyEdge const& edge : graph_.edges) {  // in the order of their ends
      bool const is_of_order = edge.kind == DependencyKind::kScriptOrder && edge.evidence.named;
      if (is_of_order) listens[edge.to] = true;
    }
    for (DependencyEdge const& edge : graph_.edges) {
      DependencyNode const& from = graph_.nodes[edge.from];
      bool const is_answer = (from.type == "XHR" || from.type == "Fetch") &&
                             edge.kind == DependencyKind::kInitiator && edge.alternative == 0;
      if ((!asks(edge) && !is_answer) || !parts_.nodes[edge.from].present) continue;
      bool const is_late =
          !groups[edge.from] && !listens[edge.from] && (is_answer || is_late_callback(edge.from));
      if (is_late || is_behind[edge.from]) is_behind[edge.to] = true;
    }
    return is_behind;
  }

  bool is_late_callback(std::uint32_t node) const {
    constexpr double kLateUs = 50'000;
    return graph_.nodes[node].kind == DependencyNodeKind::kTask &&
           !graph_.nodes[node].function.empty() && parts_.nodes[node].gap_us >= kLateUs;
  }

  const DependencyGraph& graph_;
  const LoadParts& parts_;
  const RequestsByNode& requests_;
};

void find_head(LoadPlan& plan, const LoadParts& parts, std::span<const NodeChange> changes) {
  for (std::size_t node = 0; node < parts.nodes.size(); ++node) {
    ChangedNode const changed{parts.nodes[node], changes[node]};
    plan.scripts_of_head[node] = changed.parts.is_of_head && !plan.absent[node] &&
                                 !changed.is_at_hand() && !changed.change.loading;
  }
}

void find_early(LoadPlan& plan, const DependencyGraph& graph, const LoadParts& parts,
                std::span<const NodeChange> changes, const std::vector<std::uint32_t>& documents) {
  for (std::uint32_t node = plan.document + 1; node < graph.nodes.size(); ++node) {
    bool const is_made = graph.nodes[node].kind == DependencyNodeKind::kRequest &&
                         parts.nodes[node].present && !plan.dropped[node] &&
                         !ChangedNode{parts.nodes[node], changes[node]}.is_at_hand();
    if (!is_made) continue;
    bool const is_there = parts.nodes[documents[node]].present;
    auto const document = is_there ? documents[node] : plan.document;
    auto& early = plan.early[document];
    bool const is_early = changes[node].preload || changes[node].early_hints;
    bool const is_font = is_early && graph.nodes[node].type == "Font";
    if (is_font && document == plan.document) plan.early_fonts.insert(node);
    if (changes[node].preload) early.preloaded.push_back(node);
    if (changes[node].preconnect) early.preconnected.push_back(node);
    if (changes[node].early_hints) early.hinted.push_back(node);
  }
}

}  // namespace

LoadPlan::Moment LoadPlan::begin_of(const ThreadWork& piece) const {
  Moment const followed = {.node = piece.from, .after = piece.after};
  bool const stays = piece.is_after_parser && deferred[piece.from];
  return stays ? followed : goes_on[piece.from].value_or(followed);
}

std::optional<LoadPlan::AwaitedWork> LoadPlan::awaited_by(
    std::uint32_t node, const std::optional<ThreadWait>& wait) const {
  if (!wait || !leads_to_work(wait->from)) return std::nullopt;
  bool const still_waits =
      std::ranges::any_of(outgoing[wait->from], [&](auto const& each) { return each.to == node; });
  Moment const followed = {.node = wait->from, .after = wait->after};
  if (!deferred[wait->from] || !still_waits) {
    return AwaitedWork{.from = goes_on[wait->from].value_or(followed),
                       .length_us = wait->length_us,
                       .processor_us = wait->processor_us};
  }
  // The parser has been at work before that, without the script.
  auto const part = wait->length_us > 0 ? wait->after_parser_us / wait->length_us : 0;
  return AwaitedWork{.from = followed,
                     .length_us = wait->after_parser_us,
                     .processor_us = wait->processor_us * part};
}

std::optional<std::uint32_t> largest_image(const DependencyGraph& graph) {
  auto const edge = std::ranges::find_if(graph.edges, [&](const DependencyEdge& each) {
    return graph.nodes[each.to].is(Milestone::kLargestContentfulPaint) &&
           graph.nodes[each.from].type == "Image";
  });
  return edge == graph.edges.end() ? std::nullopt : std::optional(edge->from);
}

LoadPlan load_plan(const DependencyGraph& graph, const LoadParts& parts,
                   std::span<const NodeChange> changes) {
  LoadPlan plan;
  plan.dropped.resize(graph.nodes.size());
  plan.absent.resize(graph.nodes.size());
  plan.scripts_of_head.resize(graph.nodes.size());
  plan.groups.resize(graph.nodes.size());
  plan.outgoing.resize(graph.nodes.size());
  plan.goes_on.resize(graph.nodes.size());
  plan.deferred.resize(graph.nodes.size());
  plan.work.resize(graph.nodes.size());
  find_dropped(plan, graph, changes);
  auto const requests = requests_by_node(graph.nodes);
  auto const document = first_document(plan, graph, parts, requests);
  plan.document = document.value_or(0);
  auto const documents = documents_of(graph, plan.document);
  ParserWithoutScripts(graph, parts, requests, documents).find(plan, changes);
  find_work(plan, parts);
  find_head(plan, parts, changes);
  find_edges(plan, graph, parts);
  LooseGroups(graph, parts, requests).find(plan);
  if (document) find_early(plan, graph, parts, changes, documents);
  return plan;
}

}  // namespace reprise
