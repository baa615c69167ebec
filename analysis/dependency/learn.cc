#include "analysis/dependency/learn.h"

#include <algorithm>
#include <map>
#include <string>

#include "analysis/dependency/observed_gaps.h"
#include "analysis/dependency/page_rules.h"
#include "analysis/dependency/steadiest.h"
#include "analysis/verdict.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// In fewer loads everything is steady, and some pair explains anything.
constexpr std::size_t kLoadsForSteady = 3;
constexpr std::size_t kLoadsForAlternatives = 4;
/// More of them do not join before one start.
constexpr std::size_t kSteadyEdgesMax = 4;
/// The last ones before a start are tried.
constexpr std::size_t kSteadyTried = 200;
/// Of many scripts in order, the last ones come after the others.
constexpr std::size_t kScriptsInOrderMax = 64;
/// Pairs of these, the last ones before a start, are tried as alternatives.
constexpr std::size_t kAlternativesTried = 40;

class Learner {
 public:
  explicit Learner(std::span<const ObservedPage> pages)
      : pages_(pages),
        graph_(find_nodes(pages)),
        gaps_(graph_.nodes, place(pages)),
        rules_(graph_.nodes, pages, gaps_) {
    for (std::uint32_t task = 0; task < graph_.nodes.size(); ++task) {
      auto const script = gaps_.request_of(task);
      if (script && rules_.is_run_of(task, *script)) runs_.emplace(*script, task);
    }
  }

  DependencyGraph run() && {
    for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
      incoming_.clear();
      switch (graph_.nodes[node].kind) {
        case DependencyNodeKind::kRequest:
          add_initiator(node);
          if (auto const event = rules_.load_event_before(node)) {
            add(*event, node, DependencyKind::kInitiator, {});
          }
          add_redirect(node);
          add_held_up_parser(node);
          add_held_up_layout(node);
          add_steady(node);
          add_alternatives(node);
          add_document(node);
          add_connection(node);
          break;
        case DependencyNodeKind::kTask:
          if (auto const script = gaps_.request_of(node)) {
            add(*script, node, DependencyKind::kInitiator, {.named = true});
            add_run(*script, node);
            add_document_order(*script, node);
            add_deferred_order(*script, node);
          }
          add_steady(node);
          break;
        case DependencyNodeKind::kMilestone:
          add_milestone(node);
          break;
      }
      graph_.edges.insert(graph_.edges.end(), incoming_.begin(), incoming_.end());
    }
    graph_.take_edges(std::move(graph_.edges));
    gaps_.measure(graph_.edges);
    return std::move(graph_);
  }

 private:
  using Kind = DependencyNodeKind;

  std::vector<PlacedLoad> place(std::span<const ObservedPage> pages) const {
    std::vector<PlacedLoad> loads;
    for (ObservedPage const& page : pages) loads.push_back(place_nodes(graph_, page));
    return loads;
  }

  const DependencyNode& node(std::uint32_t i) const { return graph_.nodes[i]; }

  /// Unless there is an edge, or `from` does not come before in every load.
  void add(std::uint32_t from, std::uint32_t to, DependencyKind kind, DependencyEvidence evidence) {
    if (from >= to) return;
    if (std::ranges::find(incoming_, from, &DependencyEdge::from) != incoming_.end()) return;
    auto const after = gaps_.last_moment_before(from, to);
    if (!after) return;
    incoming_.push_back(
        {.from = from, .to = to, .kind = kind, .after = *after, .evidence = evidence});
  }

  void add_initiator(std::uint32_t to) {
    auto const initiator = rules_.initiator_of(to);
    if (!initiator) return;
    auto const& type = node(*initiator).type;
    auto const kind = type == "Document"     ? DependencyKind::kParser
                      : type == "Stylesheet" ? DependencyKind::kStyle
                                             : DependencyKind::kInitiator;
    add(gaps_.acting(*initiator, to), to, kind, {.named = true});
  }

  void add_redirect(std::uint32_t to) {
    for (auto from = to; from-- > 0;) {
      if (node(from).kind != Kind::kRequest || !rules_.redirects_to(from, to)) continue;
      return add(from, to, DependencyKind::kInitiator, {.named = true, .steady = true});
    }
  }

  /// Whether `from` ended before `to` in every load; and of a script that its run did, if it is
  /// seen.
  bool acts_before(std::uint32_t from, std::uint32_t to) const {
    if (gaps_.last_moment_before(from, to) != DependencyAfter::kEnd) return false;
    auto const run = runs_.find(from);
    return run == runs_.end() || gaps_.last_moment_before(run->second, to) == DependencyAfter::kEnd;
  }

  /// Whether its run, which comes after its end, is before `to` in every load.
  bool has_run_before(std::uint32_t script, std::uint32_t to) const {
    auto const run = runs_.find(script);
    return run != runs_.end() && run->second < to && node(run->second).loads == pages_.size() &&
           gaps_.last_moment_before(script, run->second) == DependencyAfter::kEnd;
  }

  /// Listeners, timers and other callbacks of a script are there once it has been evaluated.
  void add_run(std::uint32_t script, std::uint32_t task) {
    for (auto from = script + 1; from < task; ++from) {
      if (!rules_.is_run_of(from, script)) continue;
      if (gaps_.last_moment_before(from, task) != DependencyAfter::kEnd) return;
      return add(from, task, DependencyKind::kInitiator, {.named = true});
    }
  }

  /// The parser runs scripts in their order, whether they are in the document or not, and after the
  /// style sheets before them. At its end it calls listeners.
  void add_document_order(std::uint32_t script, std::uint32_t task) {
    auto const document = rules_.parser_of(task);
    if (!document) return;
    std::size_t scripts = 0;
    bool const is_last = script == *document || !rules_.is_run_of(task, script);
    for (auto from = task; from-- > 0;) {
      bool const stands_before = from < script || is_last;
      bool const is_earlier =
          stands_before && rules_.initiator_of(from) == document && rules_.holds_up_parser(from);
      if (!is_earlier || !acts_before(from, task)) continue;
      bool const is_style = node(from).type == "Stylesheet";
      if (!is_style && ++scripts > kScriptsInOrderMax) continue;
      add(from, task, kind_from(from), {.named = !is_style});
    }
    // One that is in all loads comes after the others.
    for (auto from = task; from-- > 0;) {
      if (rules_.parser_of(from) != document || !acts_before(from, task)) continue;
      add(from, task, DependencyKind::kScriptOrder, {.named = true});
      if (node(from).loads == pages_.size()) return;
    }
  }

  /// A module runs once it has its imports, and what is deferred after what stands before it.
  void add_deferred_order(std::uint32_t script, std::uint32_t task) {
    if (!rules_.is_run_of(task, script)) return;
    std::size_t scripts = 0;
    for (auto from = task; from-- > 0 && scripts < kScriptsInOrderMax;) {
      auto const of = gaps_.request_of(from);
      if (!of || !rules_.runs_after(task, *of) || !acts_before(from, task)) continue;
      ++scripts;
      add(from, task, DependencyKind::kScriptOrder, {.named = true});
    }
  }

  /// What the parser's scan ahead would have found, but was asked for after the document's end,
  /// comes after the scripts that held up the parser: it, or a listener, went on after them. A run
  /// stands for its script; a later one does not, since a what-if can make that async.
  void add_held_up_parser(std::uint32_t to) {
    auto const named = std::ranges::find(incoming_, DependencyKind::kParser, &DependencyEdge::kind);
    if (named == incoming_.end()) return;
    auto const document = gaps_.request_of(named->from);
    if (!document || gaps_.last_moment_before(*document, to) != DependencyAfter::kEnd) return;
    for (std::uint32_t from = 0; from < to; ++from) {
      auto const of = gaps_.request_of(from);
      if (!of || node(*of).type != "Script" || !rules_.holds_up_parser(*of)) continue;
      bool const acts = from == *of ? !has_run_before(from, to) : rules_.is_run_of(from, *of);
      if (acts && acts_before(from, to)) {
        add(from, to, DependencyKind::kScriptOrder, {.named = true});
      }
    }
  }

  /// Fonts and backgrounds are asked for when something is laid out that uses them, which waits for
  /// all style sheets and scripts of the head. An import is asked for as soon as its style sheet is
  /// read.
  void add_held_up_layout(std::uint32_t to) {
    if (node(to).type == "Stylesheet") return;
    auto const style = std::ranges::find(incoming_, DependencyKind::kStyle, &DependencyEdge::kind);
    if (style == incoming_.end()) return;
    for (std::uint32_t from = 0; from < to; ++from) {
      if (rules_.holds_up_layout(from) && acts_before(from, to)) {
        add(from, to, kind_from(from), {.named = true});
      }
    }
  }

  /// Whether it can hold up what follows in its document or script.
  bool can_hold_up(std::uint32_t from) const {
    DependencyNode const& each = node(from);
    if (each.kind == Kind::kTask) return true;
    return each.type == "Script" || each.type == "Stylesheet" || each.type == "XHR" ||
           each.type == "Fetch";
  }

  DependencyKind kind_from(std::uint32_t from) const {
    DependencyNode const& each = node(from);
    if (each.type == "Stylesheet") return DependencyKind::kStyle;
    return each.kind == Kind::kTask || each.type == "Script" ? DependencyKind::kScriptOrder
                                                             : DependencyKind::kInitiator;
  }

  std::vector<double> gaps_with(std::uint32_t to, std::vector<DependencyEdge> edges) const {
    sort_edges(edges);
    return gaps_.gaps_after(to, edges);
  }

  /// The edge that makes the gaps steadiest, if it helps: by half, when there are gaps `before`.
  std::optional<DependencyEdge> steadiest_addition(std::uint32_t to,
                                                   std::span<const double> before) const {
    Steadiest<DependencyEdge> steadiest;
    std::size_t tried = 0;
    for (auto from = to; from-- > 0 && tried < kSteadyTried;) {
      if (!can_hold_up(from) || gaps_.acting(from, to) != from) continue;
      if (std::ranges::find(incoming_, from, &DependencyEdge::from) != incoming_.end()) continue;
      if (gaps_.last_moment_before(from, to) != DependencyAfter::kEnd) continue;
      ++tried;
      auto edges = incoming_;
      edges.push_back({.from = from,
                       .to = to,
                       .kind = kind_from(from),
                       .after = DependencyAfter::kEnd,
                       .evidence = {.steady = true}});
      steadiest.offer(edges.back(), gaps_with(to, edges));
    }
    bool const helps = before.empty() || steadiest.spread() <= .5 * standard_deviation(before);
    return helps ? steadiest.best() : std::nullopt;
  }

  void add_steady(std::uint32_t to) {
    if (pages_.size() < kLoadsForSteady) return;
    for (std::size_t added = 0; added < kSteadyEdgesMax; ++added) {
      auto const before = gaps_with(to, incoming_);
      if (is_steady(before)) {
        for (DependencyEdge& edge : incoming_) edge.evidence.steady = true;
        return;
      }
      auto const steadiest = steadiest_addition(to, before);
      if (!steadiest) return;
      incoming_.push_back(*steadiest);
    }
  }

  void add_alternatives(std::uint32_t to) {
    if (pages_.size() < kLoadsForAlternatives || incoming_.empty()) return;
    // What a script asks for can wait for the first of two; parser and layout never do. The
    // document is named for its inline scripts, too.
    auto const initiator = rules_.initiator_of(to);
    bool const is_data = node(to).type == "Fetch" || node(to).type == "XHR";
    if (initiator && node(*initiator).type != "Script" && !is_data) return;
    if (is_steady(gaps_with(to, incoming_))) return;
    std::vector<std::uint32_t> tried;
    for (auto from = to; from-- > 0 && tried.size() < kAlternativesTried;) {
      bool const can = node(from).kind == Kind::kRequest && node(from).type != "Document" &&
                       gaps_.always_ends(from);
      if (can) tried.push_back(from);
    }
    Steadiest<std::vector<DependencyEdge>> steadiest;
    for (std::size_t a = 0; a < tried.size(); ++a) {
      for (std::size_t b = a + 1; b < tried.size(); ++b) {
        auto edges = incoming_;
        for (auto const from : {tried[b], tried[a]}) {
          edges.push_back({.from = from,
                           .to = to,
                           .after = DependencyAfter::kEnd,
                           .alternative = 1,
                           .evidence = {.steady = true}});
        }
        auto const gaps = gaps_with(to, edges);
        if (follows_steadily(gaps)) steadiest.offer(std::move(edges), gaps);
      }
    }
    if (steadiest.best()) incoming_ = *steadiest.best();
  }

  /// Of a request that nothing is known to cause: at least the page has to be there. One before the
  /// page follows what redirects to it, which has no parser.
  void add_document(std::uint32_t to) {
    if (!incoming_.empty()) return;
    if (auto const page = rules_.page_before(to)) add(*page, to, DependencyKind::kParser, {});
    if (!incoming_.empty()) return;
    auto const first = std::ranges::find(graph_.nodes, "Document", &DependencyNode::type);
    if (first == graph_.nodes.end()) return;
    add(static_cast<std::uint32_t>(first - graph_.nodes.begin()), to, DependencyKind::kInitiator,
        {});
  }

  void add_connection(std::uint32_t to) {
    auto const host = url_parts(node(to).name).host;
    Steadiest<DependencyEdge> steadiest;
    for (auto from = to; from-- > 0;) {
      if (node(from).kind != Kind::kRequest || url_parts(node(from).name).host != host) continue;
      for (auto const after : {DependencyAfter::kSent, DependencyAfter::kEnd}) {
        auto const gaps = gaps_.connection_gaps(from, to, after);
        if (!follows_steadily(gaps)) continue;
        steadiest.offer({.from = from,
                         .to = to,
                         .kind = DependencyKind::kConnection,
                         .after = after,
                         .evidence = {.steady = true}},
                        gaps);
      }
    }
    auto const& best = steadiest.best();
    if (best &&
        std::ranges::find(incoming_, best->from, &DependencyEdge::from) == incoming_.end()) {
      incoming_.push_back(*best);
    }
  }

  void add_milestone(std::uint32_t to) {
    bool const is_load_event = node(to).is(Milestone::kLoadEvent);
    bool const is_last_load = node(to).is(Milestone::kLastLoad);
    bool const is_largest = node(to).is(Milestone::kLargestContentfulPaint);
    bool const waits_for_all = is_load_event || is_last_load;
    for (std::uint32_t from = 0; from < to; ++from) {
      DependencyNode const& each = node(from);
      bool const paints = each.type == "Document" || each.type == "Stylesheet" ||
                          each.type == "Script" || each.kind == Kind::kTask ||
                          (is_largest && each.is(Milestone::kFirstContentfulPaint));
      if (waits_for_all ? each.kind == Kind::kMilestone : !paints) continue;
      if (is_load_event && !rules_.can_hold_up_load_event(from)) continue;
      if (is_last_load && each.kind != Kind::kRequest) continue;
      // What is in a frame paints nothing of the page itself.
      if (!waits_for_all && rules_.is_in_frame(from)) continue;
      auto const after = gaps_.last_moment_before(from, to);
      bool const is_before = acts_before(from, to) || (after && each.type == "Document");
      if (!is_before) continue;
      // A script in the background paints, if it does, soon after it ran.
      bool const may_paint = waits_for_all || !rules_.is_in_background(from);
      if (!may_paint && !is_steady(gaps_after_end(from, to))) continue;
      add(from, to, DependencyKind::kMilestone, {.named = waits_for_all});
    }
    if (is_largest) add_largest_image(to);
  }

  std::vector<double> gaps_after_end(std::uint32_t from, std::uint32_t to) const {
    return gaps_with(to, {{.from = from, .to = to, .after = DependencyAfter::kEnd}});
  }

  void add_largest_image(std::uint32_t to) {
    auto const named = rules_.largest_paint();
    if (!named.is_known) return add_steady_image(to);
    if (named.image && gaps_.last_moment_before(*named.image, to) == DependencyAfter::kEnd) {
      add(*named.image, to, DependencyKind::kMilestone, {.named = true});
    }
  }

  /// What was painted, if it is an image and the paint follows it steadily.
  void add_steady_image(std::uint32_t to) {
    Steadiest<std::uint32_t> steadiest;
    for (std::uint32_t from = 0; from < to; ++from) {
      if (node(from).type != "Image" || rules_.is_in_frame(from)) continue;
      if (gaps_.last_moment_before(from, to) != DependencyAfter::kEnd) continue;
      auto const gaps = gaps_after_end(from, to);
      if (is_steady(gaps)) steadiest.offer(from, gaps);
    }
    auto const& best = steadiest.best();
    if (best) add(*best, to, DependencyKind::kMilestone, {.steady = true});
  }

  std::span<const ObservedPage> pages_;
  DependencyGraph graph_;
  ObservedGaps gaps_;
  PageRules rules_;
  std::map<std::uint32_t, std::uint32_t> runs_;  ///< by script, the task that evaluates it
  std::vector<DependencyEdge> incoming_;         ///< to the node that is being learnt
};

}  // namespace

DependencyGraph learn_dependencies(std::span<const ObservedPage> loads) {
  return Learner(loads).run();
}

}  // namespace reprise
