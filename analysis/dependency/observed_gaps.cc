#include "analysis/dependency/observed_gaps.h"

#include <algorithm>

#include "analysis/verdict.h"

namespace reprise {
namespace {

/// A request that waits longer than this before it is sent waits for a connection.
constexpr std::int64_t kQueuedUs = 2'000;

}  // namespace

ObservedGaps::ObservedGaps(const std::vector<DependencyNode>& nodes, std::vector<PlacedLoad> loads)
    : nodes_(nodes),
      loads_(std::move(loads)),
      request_of_(requests_by_node(nodes)),
      tasks_of_(nodes.size()) {
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    bool const is_task = nodes[node].kind == DependencyNodeKind::kTask;
    if (is_task && request_of_[node]) tasks_of_[*request_of_[node]].push_back(node);
  }
}

std::optional<DependencyAfter> ObservedGaps::last_moment_before(std::uint32_t from,
                                                                std::uint32_t to) const {
  bool const is_task = nodes_[from].kind == DependencyNodeKind::kTask;
  for (auto const after :
       {DependencyAfter::kEnd, is_task ? DependencyAfter::kStart : DependencyAfter::kFirstByte}) {
    bool is_seen = false;
    bool holds = true;
    for (PlacedLoad const& load : loads_) {
      if (!load[from] || !load[to]) continue;
      is_seen = true;
      holds = holds && load[from]->has(after) &&
              load[from]->at(after) <= load[to]->start_us + kRoundingUs;
    }
    if (is_seen && holds) return after;
  }
  return std::nullopt;
}

bool ObservedGaps::always_ends(std::uint32_t node) const {
  return std::ranges::all_of(loads_, [node](const PlacedLoad& load) {
    return !load[node] || load[node]->has(DependencyAfter::kEnd);
  });
}

std::uint32_t ObservedGaps::acting(std::uint32_t script, std::uint32_t to) const {
  auto const& tasks = tasks_of_[script];
  for (auto task = tasks.rbegin(); task != tasks.rend(); ++task) {
    if (*task < to && last_moment_before(*task, to)) return *task;
  }
  return script;
}

std::vector<double> ObservedGaps::gaps_after(std::uint32_t node,
                                             std::span<const DependencyEdge> edges) const {
  std::vector<double> gaps;
  for (PlacedLoad const& load : loads_) {
    if (!load[node]) continue;
    auto const join = join_in(load, edges.data(), edges.data() + edges.size());
    if (join) gaps.push_back(static_cast<double>(load[node]->start_us - *join));
  }
  return gaps;
}

std::vector<double> ObservedGaps::connection_gaps(std::uint32_t from, std::uint32_t to,
                                                  DependencyAfter after) const {
  std::vector<double> gaps;
  for (PlacedLoad const& load : loads_) {
    if (!load[from] || !load[to]) continue;
    auto const gap = load[to]->sent_us - load[from]->at(after);
    bool const waited = load[from]->has(after) &&
                        load[to]->sent_us - load[to]->start_us >= kQueuedUs &&
                        load[from]->at(after) > load[to]->start_us && gap <= 2 * kRoundingUs;
    if (!waited) return {};
    gaps.push_back(static_cast<double>(gap));
  }
  return gaps;
}

void ObservedGaps::measure(std::vector<DependencyEdge>& edges) const {
  for (std::size_t first = 0; first < edges.size();) {
    auto last = first;
    while (last < edges.size() && edges[last].to == edges[first].to) ++last;
    for (auto i = first; i < last; ++i) {
      DependencyEdge& edge = edges[i];
      std::vector<double> gaps;
      std::vector<double> slacks;
      for (PlacedLoad const& load : loads_) {
        if (!load[edge.from] || !load[edge.to] || !load[edge.from]->has(edge.after)) continue;
        auto const until = load[edge.to]->held_up(edge.kind);
        auto const moment = load[edge.from]->at(edge.after);
        gaps.push_back(static_cast<double>(until - moment));
        // A connection holds up the sending, everything else the start.
        auto const join = edge.kind == DependencyKind::kConnection
                              ? std::optional(std::max(load[edge.to]->start_us, moment))
                              : join_in(load, &edges[first], &edges[first] + (last - first));
        auto group = i;
        while (edge.alternative != 0 && group > first &&
               edges[group - 1].alternative == edge.alternative) {
          --group;
        }
        auto group_end = i + 1;
        while (edge.alternative != 0 && group_end < last &&
               edges[group_end].alternative == edge.alternative) {
          ++group_end;
        }
        auto const own = edge.alternative == 0
                             ? moment
                             : join_in(load, &edges[group], &edges[group] + (group_end - group))
                                   .value_or(moment);
        slacks.push_back(static_cast<double>(std::max<std::int64_t>(*join - own, 0)));
      }
      edge.loads = static_cast<std::uint32_t>(gaps.size());
      edge.gap_us = static_cast<std::int64_t>(median(gaps));
      edge.gap_spread_us = static_cast<std::int64_t>(standard_deviation(gaps));
      edge.slack_us = static_cast<std::int64_t>(median(slacks));
    }
    first = last;
  }
}

bool is_steady(std::span<const double> gaps_us) {
  if (gaps_us.empty()) return false;
  auto const limit = std::clamp(.15 * std::abs(median(gaps_us)), 1'000.0, 10'000.0);
  return standard_deviation(gaps_us) <= limit;
}

bool follows_steadily(std::span<const double> gaps_us) {
  return is_steady(gaps_us) && std::ranges::min(gaps_us) >= -static_cast<double>(kRoundingUs);
}

std::optional<std::int64_t> join_in(const PlacedLoad& load, const DependencyEdge* begin,
                                    const DependencyEdge* end) {
  return join_moments(begin, end, [&load](const DependencyEdge& edge) {
    bool const counts = edge.kind != DependencyKind::kConnection && load[edge.from] &&
                        load[edge.from]->has(edge.after);
    return counts ? std::optional(load[edge.from]->at(edge.after)) : std::nullopt;
  });
}

}  // namespace reprise
