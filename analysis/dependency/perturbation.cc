#include "analysis/dependency/perturbation.h"

#include <algorithm>
#include <cmath>

#include "analysis/verdict.h"

namespace reprise {
namespace {

/// Of what a node may have followed, this many are tried.
constexpr std::size_t kFollowedTried = 3;
/// A node that starts later by less has not moved.
constexpr double kMovedUs = 2'000;
/// What a node followed comes before it by as much as before, but for this.
constexpr double kFollowedUs = 50'000;

std::vector<PlacedLoad> place_all(const DependencyGraph& graph,
                                  std::span<const ObservedPage> loads) {
  std::vector<PlacedLoad> placed;
  for (ObservedPage const& load : loads) placed.push_back(place_nodes(graph, load));
  return placed;
}

/// From the join of its edges to a node, in each load that has both; without edges since the start
/// of the load.
std::vector<double> gaps_in(std::span<const PlacedLoad> loads, const DependencyGraph& graph,
                            std::uint32_t node) {
  auto const [begin, end] = graph.edges_to(node);
  std::vector<double> gaps;
  for (PlacedLoad const& load : loads) {
    if (!load[node]) continue;
    auto const join = join_in(load, begin, end).value_or(0);
    gaps.push_back(static_cast<double>(load[node]->start_us - join));
  }
  return gaps;
}

/// The earliest first byte of what was held back; nothing if that was not in the load, or came
/// earlier than it can, as from a cache.
std::optional<std::int64_t> first_byte_held_back(const Perturbation& perturbation,
                                                 const PlacedLoad& load) {
  std::optional<std::int64_t> earliest;
  for (auto const each : perturbation.held) {
    if (!load[each]) continue;
    auto const first_byte_us = load[each]->first_byte_us;
    auto const waited_us = first_byte_us - load[each]->start_us;
    if (waited_us < perturbation.hold_us - kRoundingUs) return std::nullopt;
    earliest = std::min(earliest.value_or(INT64_MAX), first_byte_us);
  }
  return earliest;
}

DependencyKind kind_between(const DependencyNode& from, const DependencyNode& to) {
  if (to.kind == DependencyNodeKind::kMilestone) return DependencyKind::kMilestone;
  if (from.kind == DependencyNodeKind::kTask || from.type == "Script") {
    return DependencyKind::kScriptOrder;
  }
  if (from.type == "Stylesheet") return DependencyKind::kStyle;
  return from.type == "Document" ? DependencyKind::kParser : DependencyKind::kInitiator;
}

}  // namespace

DependencySearch::DependencySearch(DependencyGraph learnt, std::span<const ObservedPage> loads)
    : graph_(std::move(learnt)),
      learnt_(graph_.edges),
      not_learnt_(graph_.edges_not_kept),
      gaps_(graph_.nodes, place_all(graph_, loads)),
      alone_(graph_.nodes.size()) {
  for (std::uint32_t to = 0; to < graph_.nodes.size(); ++to) {
    auto const [begin, end] = graph_.edges_to(to);
    Nodes held;
    for (auto const* edge = begin; edge != end; ++edge) {
      if (edge->alternative != 0) held.push_back(edge->from);
    }
    if (held.size() > 1) hypotheses_.push_back({.to = to, .held = held});
  }
}

std::int64_t DependencySearch::hold_for(const Nodes& held) const {
  std::int64_t longest = 0;
  for (PlacedLoad const& load : gaps_.loads()) {
    std::int64_t last_start = 0;
    for (auto const& times : load) {
      if (times) last_start = std::max(last_start, times->start_us);
    }
    for (auto const node : held) {
      if (load[node]) longest = std::max(longest, last_start - load[node]->first_byte_us);
    }
  }
  return longest + longest / 4 + 50'000;
}

bool DependencySearch::is_open(const Hypothesis& hypothesis) const {
  return !tested_.contains(hypothesis.held) && !is_settled(hypothesis);
}

bool DependencySearch::is_settled(const Hypothesis& hypothesis) const {
  return std::ranges::any_of(tested_, [&](const auto& test) {
    auto const& [held, waits] = test;
    return held.size() < hypothesis.held.size() && waits[hypothesis.to].value_or(false) &&
           std::ranges::includes(hypothesis.held, held);
  });
}

std::optional<Perturbation> DependencySearch::next() const {
  // Everything follows the first request.
  for (std::uint32_t node = 1; node < graph_.nodes.size(); ++node) {
    if (graph_.nodes[node].kind != DependencyNodeKind::kRequest) continue;
    if (alone_[node] == nullptr) return Perturbation{.held = {node}, .hold_us = hold_for({node})};
  }
  auto const open = std::ranges::find_if(
      hypotheses_, [this](const Hypothesis& hypothesis) { return is_open(hypothesis); });
  if (open == hypotheses_.end()) return std::nullopt;
  return Perturbation{.held = open->held, .hold_us = hold_for(open->held)};
}

std::vector<DependencyFinding> DependencySearch::take(const Perturbation& perturbation,
                                                      std::span<const ObservedPage> loads) {
  auto const before = graph_.edges;
  auto const placed = place_all(graph_, loads);
  auto& waits = tested_[perturbation.held];
  waits = waits_in(perturbation, placed);
  if (perturbation.held.size() == 1) alone_[perturbation.held.front()] = &waits;
  rebuild();
  suppose(perturbation.held, placed);
  return findings_since(before);
}

std::vector<DependencyFinding> DependencySearch::findings_since(
    const std::vector<DependencyEdge>& before) const {
  using What = DependencyFinding::What;
  using Ends = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Ends, bool> old_edges;
  for (DependencyEdge const& edge : before) {
    old_edges[{edge.from, edge.to}] |= edge.evidence.held_back;
  }
  std::set<Ends> kept;
  std::vector<DependencyFinding> findings;
  for (DependencyEdge const& edge : graph_.edges) {
    Ends const ends(edge.from, edge.to);
    kept.insert(ends);
    auto const old = old_edges.find(ends);
    if (old == old_edges.end()) {
      findings.push_back({.what = What::kFound, .from = edge.from, .to = edge.to});
    } else if (edge.evidence.held_back && !old->second) {
      findings.push_back({.what = What::kConfirmed, .from = edge.from, .to = edge.to});
    }
  }
  for (auto const& [ends, was_held_back] : old_edges) {
    if (kept.contains(ends)) continue;
    findings.push_back({.what = What::kDenied, .from = ends.first, .to = ends.second});
  }
  return findings;
}

DependencySearch::Waits DependencySearch::waits_in(const Perturbation& perturbation,
                                                   std::span<const PlacedLoad> loads) const {
  Nodes const& held = perturbation.held;
  Waits waits(graph_.nodes.size());
  for (std::uint32_t node = 0; node < waits.size(); ++node) {
    std::size_t waited = 0;
    std::size_t seen = 0;
    for (PlacedLoad const& load : loads) {
      auto const first_byte = first_byte_held_back(perturbation, load);
      if (!first_byte || !load[node]) continue;
      ++seen;
      waited += load[node]->start_us >= *first_byte - kRoundingUs ? 1 : 0;
    }
    if (seen > 0) waits[node] = 2 * waited > seen;
  }
  for (auto const each : held) waits[each] = std::nullopt;
  return waits;
}

std::optional<bool> DependencySearch::waits_for(std::uint32_t to, std::uint32_t from) const {
  return alone_[from] == nullptr ? std::nullopt : (*alone_[from])[to];
}

bool DependencySearch::follows(std::uint32_t to, std::uint32_t from,
                               const std::vector<double>& otherwise) const {
  std::vector<DependencyEdge> const edge = {{.from = from, .to = to}};
  auto const gaps = gaps_.gaps_after(to, edge);
  return !gaps.empty() && std::ranges::min(gaps) >= -static_cast<double>(kRoundingUs) &&
         median(gaps) < std::min(kFollowedUs, median(otherwise)) &&
         standard_deviation(gaps) < .5 * standard_deviation(otherwise);
}

void DependencySearch::suppose(const Nodes& held, std::span<const PlacedLoad> loads) {
  Waits const& waits = tested_.at(held);
  std::vector<std::uint32_t> moved;
  for (std::uint32_t to = held.front() + 1; to < graph_.nodes.size(); ++to) {
    if (graph_.nodes[to].kind != DependencyNodeKind::kRequest) continue;
    if (waits[to].value_or(true)) continue;
    auto const usual = gaps_in(gaps_.loads(), graph_, to);
    auto const now = gaps_in(loads, graph_, to);
    if (usual.empty() || now.empty()) continue;
    auto const noise = 2 * standard_deviation(usual) / std::sqrt(static_cast<double>(now.size()));
    bool const is_later = median(now) - median(usual) > std::max(kMovedUs, noise);
    if (is_later || (held.size() == 1 && follows(to, held.front(), usual))) moved.push_back(to);
  }
  for (auto const to : moved) suppose_followed(held, to, loads);
}

void DependencySearch::suppose_followed(const Nodes& held, std::uint32_t to,
                                        std::span<const PlacedLoad> loads) {
  if (held.size() >= DependencyTest::kHeldMax) return;
  // By how much it follows the first of what was held, as long as that is not held.
  std::vector<double> usual;
  for (PlacedLoad const& load : gaps_.loads()) {
    if (!load[to]) continue;
    std::optional<std::int64_t> gap;
    for (auto const each : held) {
      if (!load[each] || load[each]->end_us > load[to]->start_us + kRoundingUs) continue;
      gap = std::max(gap.value_or(0), load[to]->start_us - load[each]->end_us);
    }
    if (gap) usual.push_back(static_cast<double>(*gap));
  }
  if (usual.empty()) return;
  std::vector<std::pair<double, std::uint32_t>> followed;
  for (std::uint32_t from = 1; from < to; ++from) {
    if (graph_.nodes[from].kind != DependencyNodeKind::kRequest) continue;
    if (std::ranges::find(held, from) != held.end() || waits_for(to, from).value_or(false)) {
      continue;
    }
    std::vector<double> gaps;
    bool always_before = true;
    for (PlacedLoad const& load : loads) {
      if (!load[from] || !load[to]) continue;
      gaps.push_back(static_cast<double>(load[to]->start_us - load[from]->end_us));
      always_before = always_before && gaps.back() >= -static_cast<double>(kRoundingUs);
    }
    if (gaps.empty() || !always_before) continue;
    auto const misfit = standard_deviation(gaps) + std::abs(median(gaps) - median(usual));
    if (misfit < kFollowedUs) followed.emplace_back(misfit, from);
  }
  std::ranges::sort(followed);
  followed.resize(std::min(followed.size(), held.size() == 1 ? kFollowedTried : 1));
  for (auto const& [misfit, from] : followed) {
    Hypothesis hypothesis{.to = to, .held = held};
    hypothesis.held.push_back(from);
    std::ranges::sort(hypothesis.held);
    if (std::ranges::find(hypotheses_, hypothesis) == hypotheses_.end()) {
      hypotheses_.push_back(std::move(hypothesis));
    }
  }
}

bool DependencySearch::keeps(const DependencyEdge& edge) const {
  if (edge.kind == DependencyKind::kConnection) return true;
  if (edge.alternative != 0) return false;
  auto const request = gaps_.request_of(edge.from);
  if (!request || *request == edge.to) return true;
  return waits_for(edge.to, *request).value_or(true);
}

void DependencySearch::add_found(std::uint32_t to, std::vector<DependencyEdge>& edges,
                                 const Cover& cover, const std::vector<bool>& covered) const {
  // The nearest first: it covers those before it.
  for (auto request = to; request-- > 0;) {
    if (covered[request] || !waits_for(to, request).value_or(false)) continue;
    auto const from = gaps_.acting(request, to);
    auto const after = gaps_.last_moment_before(from, to);
    if (!after) continue;
    edges.push_back({.from = from,
                     .to = to,
                     .kind = kind_between(graph_.nodes[from], graph_.nodes[to]),
                     .after = *after,
                     .evidence = {.held_back = true}});
    cover(from);
    cover(request);
  }
}

void DependencySearch::add_alternatives(std::uint32_t to, std::vector<DependencyEdge>& edges,
                                        const Cover& cover,
                                        const std::vector<bool>& covered) const {
  std::uint32_t group = 0;
  std::set<Nodes> added;
  for (Hypothesis const& hypothesis : hypotheses_) {
    if (hypothesis.to != to || !added.insert(hypothesis.held).second) continue;
    auto const tested = tested_.find(hypothesis.held);
    auto const waits = tested == tested_.end() ? std::nullopt : tested->second[to];
    if (!waits.value_or(true)) continue;
    if (is_settled(hypothesis)) continue;
    auto const learnt = [&](std::uint32_t from) {
      auto const found = std::ranges::find_if(learnt_, [&](const DependencyEdge& edge) {
        return edge.to == to && edge.from == from && edge.alternative != 0;
      });
      return found == learnt_.end() ? std::nullopt : std::optional(found->evidence);
    };
    // Without a test that says something, only what was learnt counts.
    auto const is_learnt = [&](std::uint32_t from) { return learnt(from).has_value(); };
    if (!waits && !std::ranges::all_of(hypothesis.held, is_learnt)) continue;
    // What follows from a node with these alternatives follows from them.
    if (std::ranges::all_of(hypothesis.held, [&](std::uint32_t from) { return covered[from]; })) {
      continue;
    }
    ++group;
    for (auto const from : hypothesis.held) {
      auto evidence = learnt(from).value_or(DependencyEvidence{});
      evidence.held_back = evidence.held_back || waits;
      edges.push_back({.from = from,
                       .to = to,
                       .kind = kind_between(graph_.nodes[from], graph_.nodes[to]),
                       .after = DependencyAfter::kEnd,
                       .alternative = group,
                       .evidence = evidence});
    }
    for (auto const from : hypothesis.held) cover(from);
  }
}

void DependencySearch::rebuild() {
  std::vector<DependencyEdge> all;
  std::vector<std::vector<bool>> before(graph_.nodes.size(),
                                        std::vector<bool>(graph_.nodes.size()));
  for (std::uint32_t to = 0; to < graph_.nodes.size(); ++to) {
    std::vector<DependencyEdge> edges;
    for (DependencyEdge edge : std::ranges::equal_range(learnt_, to, {}, &DependencyEdge::to)) {
      if (!keeps(edge)) continue;
      auto const request = gaps_.request_of(edge.from);
      if (edge.kind != DependencyKind::kConnection && request) {
        auto const waits = waits_for(to, *request);
        edge.evidence.held_back = waits.value_or(edge.evidence.held_back);
      }
      edges.push_back(edge);
    }
    auto& covered = before[to];
    auto const cover = [&](std::uint32_t from) {
      covered[from] = true;
      for (std::uint32_t node = 0; node < from; ++node) {
        if (before[from][node]) covered[node] = true;
      }
    };
    for (DependencyEdge const& edge : edges) {
      if (edge.kind != DependencyKind::kConnection) cover(edge.from);
    }
    add_found(to, edges, cover, covered);
    add_alternatives(to, edges, cover, covered);
    all.insert(all.end(), edges.begin(), edges.end());
  }
  graph_.take_edges(std::move(all));
  graph_.edges_not_kept += not_learnt_;
  gaps_.measure(graph_.edges);
}

}  // namespace reprise
