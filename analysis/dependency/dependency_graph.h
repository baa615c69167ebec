#pragma once

// What has to happen before what in a load of a page. Plain values; as a file: DEPENDENCY.md. Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise {

enum class DependencyNodeKind : std::uint8_t {
  kRequest,
  kTask,       ///< a script's work on the main thread, with what it calls
  kMilestone,  ///< a moment: see kMilestoneNames
};

/// The moments of a load that depend on requests and tasks. Their place is that of their name.
enum class Milestone : std::uint8_t {
  kFirstContentfulPaint,
  kLargestContentfulPaint,
  kLoadEvent,
  kLastLoad
};
inline constexpr std::size_t kMilestones = 4;
inline constexpr std::array<std::string_view, kMilestones> kMilestoneNames = {
    "first contentful paint", "largest contentful paint", "load event", "last load"};

/// A request, task or milestone as it occurs in several loads of the page.
struct DependencyNode {
  DependencyNodeKind kind = DependencyNodeKind::kRequest;
  /// The URL of a request, values of its query that are another in each load as `*`; what a task
  /// does ("script"); the name of a milestone.
  std::string name;
  std::string method;            ///< of a request
  std::string type;              ///< of a request: "Script", "Image", ...
  std::string url;               ///< of a task: its script
  std::string function;          ///< of a task; often empty
  std::uint32_t occurrence = 0;  ///< how many nodes equal in all of this came before it in a load
  std::uint32_t loads = 0;       ///< in which it occurs
  std::int64_t start_us = 0;     ///< medians of these loads, since the start of the view
  std::int64_t end_us = 0;

  /// Kind, name, method, URL, function and occurrence: equal for the same node of another graph.
  std::string label() const;
  bool is(Milestone milestone) const;
  bool is_paint() const;
};

enum class DependencyKind : std::uint8_t {
  kInitiator,    ///< a script or a redirect asked for it
  kParser,       ///< found by the parser of the document
  kScriptOrder,  ///< a script runs, or asks for it, after an earlier script
  kStyle,        ///< a style sheet asked for it, or held it up
  kConnection,   ///< it was sent when the other one left, or had made, the connection
  kMilestone,    ///< the milestone is not reached before
  kAwait,        ///< a service calls, or answers, after an earlier call
};
/// As in a file: "initiator", "parser", "script order", "style", "connection", "milestone",
/// "await".
std::string_view to_string(DependencyKind kind);
std::optional<DependencyKind> dependency_kind(std::string_view name);

/// The moment of `from` that `to` waits for.
enum class DependencyAfter : std::uint8_t { kStart, kSent, kFirstByte, kEnd };
/// As in a file: "start", "sent", "first byte", "end".
std::string_view to_string(DependencyAfter after);
std::optional<DependencyAfter> dependency_after(std::string_view name);

/// Why an edge is believed.
struct DependencyEvidence {
  bool named = false;   ///< the browser named `from` as the initiator, or it follows by the rules
                        ///< of HTML
  bool steady = false;  ///< the gap varies little
  bool held_back = false;  ///< `from` was held back, and `to` waited for it

  bool operator==(const DependencyEvidence&) const = default;
};

/// `to` starts after `from`: what of a connection, is sent after it.
struct DependencyEdge {
  std::uint32_t from = 0;  ///< a node; less than `to`
  std::uint32_t to = 0;
  DependencyKind kind = DependencyKind::kInitiator;
  DependencyAfter after = DependencyAfter::kEnd;
  /// 0: `to` waits for this edge. Of the edges to one node with the same other number, it waits for
  /// the first.
  std::uint32_t alternative = 0;
  DependencyEvidence evidence;
  std::uint32_t loads = 0;         ///< in which both nodes occur
  std::int64_t gap_us = 0;         ///< median, from the moment of `from` to `to`
  std::int64_t gap_spread_us = 0;  ///< standard deviation
  /// By how much `from` can be late before `to` is; the median. Of alternatives, the first of them.
  std::int64_t slack_us = 0;

  bool operator==(const DependencyEdge&) const = default;
};

/// How a node joins what it waits for.
enum class DependencyJoin : std::uint8_t {
  kSequence,  ///< at most one edge
  kAllOf,     ///< the latest
  kFirstOf,   ///< the earliest
  kMixed,     ///< the latest, of alternatives the earliest
};
/// As in a file: "sequence", "all of", "first of", "mixed".
std::string_view to_string(DependencyJoin join);

struct DependencyGraph {
  static constexpr std::size_t kNodesMax = 4'000;
  static constexpr std::size_t kEdgesMax = 100'000;

  std::string page;                   ///< its URL
  std::uint32_t loads = 0;            ///< that it was learnt from
  std::vector<DependencyNode> nodes;  ///< by start
  std::vector<DependencyEdge> edges;  ///< by `to`, then `alternative`, then `from`
  std::uint64_t nodes_not_kept = 0;   ///< beyond kNodesMax
  std::uint64_t edges_not_kept = 0;   ///< beyond kEdgesMax

  /// Sets and sorts the edges, all between `nodes`, and counts in edges_not_kept what is beyond
  /// kEdgesMax: milestones keep all of theirs, other nodes lose those from the earliest scripts and
  /// style sheets, which later ones mostly follow.
  void take_edges(std::vector<DependencyEdge> all);
  /// The edges to a node.
  std::pair<const DependencyEdge*, const DependencyEdge*> edges_to(std::uint32_t node) const;
  DependencyJoin join(std::uint32_t node) const;
};

/// By node, the request that it is, or the last one before it whose script it runs. Nothing if that
/// is unknown.
using RequestsByNode = std::vector<std::optional<std::uint32_t>>;
RequestsByNode requests_by_node(const std::vector<DependencyNode>& nodes);

/// Sorts the edges as a graph has them.
void sort_edges(std::vector<DependencyEdge>& edges);

/// The latest of the moments that a node waits for, of alternatives the earliest: the value of
/// `moment(edge)`, nothing if it is not known. Nothing if none is known.
template <class Moment>
std::optional<std::int64_t> join_moments(const DependencyEdge* edge, const DependencyEdge* end,
                                         const Moment& moment) {
  std::optional<std::int64_t> latest;
  while (edge != end) {
    auto earliest = moment(*edge);
    auto const alternative = edge->alternative;
    for (++edge; edge != end && alternative != 0 && edge->alternative == alternative; ++edge) {
      auto const other = moment(*edge);
      if (other && (!earliest || *other < *earliest)) earliest = other;
    }
    if (earliest && (!latest || *earliest > *latest)) latest = earliest;
  }
  return latest;
}

}  // namespace reprise
