#pragma once

// Tests dependencies as WebProphet (NSDI 2010) did: hold one response back, and see what moves.
// Pure: the caller holds back and loads.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_gaps.h"
#include "analysis/dependency/observed_page.h"
#include "analysis/dependency/tested_dependencies.h"

namespace reprise {

/// Loads of the page in which the first bytes of these responses come `hold_us` later.
struct Perturbation {
  std::vector<std::uint32_t> held;  ///< requests of the graph, ascending
  std::int64_t hold_us = 0;
};

/// What a perturbation said about one edge.
struct DependencyFinding {
  enum class What : std::uint8_t { kConfirmed, kDenied, kFound };
  What what = What::kConfirmed;
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  bool operator==(const DependencyFinding&) const = default;
};

/// Asks for perturbations until every edge that they can test is tested. First each response is
/// held back alone, for longer than the slack of everything: what then starts after its first byte
/// needs it, and what does not start later does not. What starts a little later, but does not wait,
/// had another way: the search looks for what it followed then, and holds back both. If it waits
/// for the earlier one of them, they are alternatives.
class DependencySearch {
 public:
  /// `loads`: those that `learnt` was learnt from, without perturbation. At least one.
  DependencySearch(DependencyGraph learnt, std::span<const ObservedPage> loads);
  DependencySearch(const DependencySearch&) = delete;
  DependencySearch& operator=(const DependencySearch&) = delete;

  /// The next perturbation; no value if none is left. The same until it is taken.
  std::optional<Perturbation> next() const;
  /// Takes loads under that perturbation; three are enough. Returns what has changed in graph().
  /// Loads in which a held request does not occur, or is not late, say nothing; without any other,
  /// it counts as tested without a result, and what was known before stays.
  std::vector<DependencyFinding> take(const Perturbation& perturbation,
                                      std::span<const ObservedPage> loads);

  /// Takes what an earlier search has found, of the nodes that both graphs have (by label()), as
  /// far as it was not tested again. Returns what has changed in graph().
  std::vector<DependencyFinding> take_earlier(const TestedPage& earlier);
  /// The tests so far that told something.
  std::vector<DependencyTest> tests() const;

  /// What is known so far. Edges have no gaps if neither end was seen with the other in `loads`.
  const DependencyGraph& graph() const { return graph_; }

 private:
  using Nodes = std::vector<std::uint32_t>;
  /// Of each node, whether it waited for the earliest of what was held; nothing if it is not known.
  using Waits = std::vector<std::optional<bool>>;

  /// Alternatives that may explain the start of `to`.
  struct Hypothesis {
    std::uint32_t to = 0;
    Nodes held;
    auto operator<=>(const Hypothesis&) const = default;
  };

  /// Marks a node and those before it as covered by an edge from it.
  using Cover = std::function<void(std::uint32_t from)>;

  std::int64_t hold_for(const Nodes& held) const;
  Waits waits_in(const Perturbation& perturbation, std::span<const PlacedLoad> loads) const;
  /// Whether `to` waits for that node's response alone; nothing if it was not tested.
  std::optional<bool> waits_for(std::uint32_t to, std::uint32_t from) const;
  /// Whether `to` comes soon and steadily after `from`, though it does not wait for it;
  /// `otherwise`: its gaps after what is known.
  bool follows(std::uint32_t to, std::uint32_t from, const std::vector<double>& otherwise) const;
  std::vector<DependencyFinding> findings_since(const std::vector<DependencyEdge>& before) const;
  void suppose(const Nodes& held, std::span<const PlacedLoad> loads);
  void suppose_followed(const Nodes& held, std::uint32_t to, std::span<const PlacedLoad> loads);
  bool is_open(const Hypothesis& hypothesis) const;
  /// Whether its node waits for fewer of them.
  bool is_settled(const Hypothesis& hypothesis) const;
  void rebuild();
  bool keeps(const DependencyEdge& edge) const;
  void add_found(std::uint32_t to, std::vector<DependencyEdge>& edges, const Cover& cover,
                 const std::vector<bool>& covered) const;
  void add_alternatives(std::uint32_t to, std::vector<DependencyEdge>& edges, const Cover& cover,
                        const std::vector<bool>& covered) const;

  DependencyGraph graph_;
  std::vector<DependencyEdge> learnt_;
  std::uint64_t not_learnt_;  ///< edges that the learnt graph did not keep
  ObservedGaps gaps_;
  std::map<Nodes, Waits> tested_;
  std::vector<const Waits*> alone_;     ///< of `tested_`, by the one node; null: not tested
  std::vector<Hypothesis> hypotheses_;  ///< in the order of asking
};

}  // namespace reprise
