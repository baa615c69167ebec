#include "analysis/service/service_learner.h"

#include <algorithm>
#include <tuple>

#include "analysis/verdict.h"

namespace reprise {
namespace {

/// The last ones before a call are tried, by twos and threes, as those of which the first suffices.
constexpr std::size_t kAlternativesTried = 12;
/// Each of them is the first in this part of the requests, and too late in this part.
constexpr double kShareFirst = .02;
/// A gap that varies by less needs no explanation, in us.
constexpr double kSteadyUs = 1'000;
/// What explains a gap makes it vary less, to this part.
constexpr double kMuchSteadier = .5;
/// What begins at no certain time after the request waits rather for a call that makes its gap vary
/// less, to this part.
constexpr double kSteadier = .8;

/// The nodes by what always ends before what begins, then by their median start.
std::vector<std::uint32_t> order_of(const ObservedCalls& calls) {
  auto const nodes = static_cast<std::uint32_t>(calls.nodes());
  std::vector<double> starts(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    std::vector<double> all;
    for (auto const& row : calls.rows()) {
      if (row[node].present) all.push_back(static_cast<double>(row[node].start_us));
    }
    starts[node] = median(all);
  }
  std::vector<std::vector<std::uint32_t>> after(nodes);
  std::vector<std::uint32_t> waits_for(nodes);
  for (std::uint32_t a = 0; a + 1 < nodes; ++a) {
    for (std::uint32_t b = 0; b + 1 < nodes; ++b) {
      // Of short calls each can seem to be before the other.
      bool const before = a != b && calls.test(a, b).holds() && !calls.test(b, a).holds();
      if (!before) continue;
      after[a].push_back(b);
      ++waits_for[b];
    }
  }
  std::vector<std::uint32_t> order;
  std::vector<bool> placed(nodes);
  placed[nodes - 1] = true;
  while (order.size() + 1 < nodes) {
    // Where calls contradict each other, as they are seldom in one request, the start counts.
    auto const key = [&](std::uint32_t node) {
      return std::tuple(placed[node], waits_for[node] > 0, starts[node]);
    };
    std::uint32_t next = 0;
    for (std::uint32_t node = 1; node + 1 < nodes; ++node) {
      if (key(node) < key(next)) next = node;
    }
    placed[next] = true;
    order.push_back(next);
    for (auto const node : after[next]) {
      if (!placed[node]) --waits_for[node];
    }
  }
  order.push_back(nodes - 1);
  return order;
}

std::vector<std::vector<CallTimes>> reordered(const std::vector<std::vector<CallTimes>>& rows,
                                              const std::vector<std::uint32_t>& order) {
  std::vector<std::vector<CallTimes>> out;
  for (auto const& row : rows) {
    std::vector<CallTimes>& times = out.emplace_back();
    for (auto const node : order) times.push_back(row[node]);
  }
  return out;
}

class WaitLearner {
 public:
  WaitLearner(ObservedCalls calls, std::int64_t grain_us)
      : calls_(std::move(calls)),
        steady_us_(std::max(kSteadyUs, 2 * static_cast<double>(grain_us))),
        nodes_(static_cast<std::uint32_t>(calls_.nodes())),
        before_(nodes_, std::vector<bool>(nodes_)) {
    for (std::uint32_t from = 0; from < nodes_; ++from) {
      auto& tests = tests_.emplace_back(nodes_);
      for (auto to = from + 1; to < nodes_; ++to) tests[to] = calls_.test(from, to);
    }
  }

  LearntWaits run() && {
    for (std::uint32_t to = 1; to < nodes_; ++to) {
      incoming_.clear();
      for (std::uint32_t from = 0; from < to; ++from) {
        if (tests_[from][to].is_proved()) add(from, to);
      }
      remove_implied(to);
      add_first_of(to);
      add_steady(to);
      remove_implied(to);
      keep(to);
    }
    LearntWaits out;
    for (auto from = nodes_ - 1; from-- > 0;) {
      if (!add_ambiguous(from)) out.background.push_back(from);
    }
    std::ranges::reverse(out.background);
    sort_edges(edges_);
    measure();
    out.edges = std::move(edges_);
    return out;
  }

 private:
  void add(std::uint32_t from, std::uint32_t to, std::uint32_t alternative = 0,
           bool is_known = true) {
    incoming_.push_back({.from = from,
                         .to = to,
                         .kind = DependencyKind::kAwait,
                         .after = DependencyAfter::kEnd,
                         .alternative = alternative,
                         .evidence = {.steady = is_known}});
  }

  void keep(std::uint32_t to) {
    for (DependencyEdge const& edge : incoming_) {
      edges_.push_back(edge);
      if (edge.alternative != 0) continue;
      before_[to][edge.from] = true;
      for (std::uint32_t node = 0; node < edge.from; ++node) {
        if (before_[edge.from][node]) before_[to][node] = true;
      }
    }
  }

  /// Edges from what another edge's call has waited for, if that is always there.
  void remove_implied(std::uint32_t to) {
    auto const all = incoming_;
    std::erase_if(incoming_, [&](const DependencyEdge& edge) {
      return edge.alternative == 0 && std::ranges::any_of(all, [&](const DependencyEdge& other) {
               return other.alternative == 0 && before_[other.from][edge.from] &&
                      calls_.always_with(other.from, edge.from, to);
             });
    });
  }

  double spread_with(std::uint32_t to, std::vector<DependencyEdge> edges) const {
    sort_edges(edges);
    return calls_.gap_spread(to, edges);
  }

  /// The calls that are late for `to` in some requests, but began before it in all of them.
  std::vector<std::uint32_t> late_for(std::uint32_t to) const {
    std::vector<std::uint32_t> late;
    for (auto from = to; from-- > 0 && late.size() < kAlternativesTried;) {
      auto const& test = tests_[from][to];
      auto const both = static_cast<double>(test.both);
      auto const too_late = static_cast<double>(test.violations);
      if (too_late < kShareFirst * both || both == 0) continue;
      bool const began = std::ranges::all_of(calls_.rows(), [&](const auto& row) {
        return !row[from].present || !row[to].present || row[from].start_us <= row[to].start_us;
      });
      if (began) late.push_back(from);
    }
    return late;
  }

  void add_first_of(std::uint32_t to) {
    double const before = spread_with(to, incoming_);
    if (before <= steady_us_) return;
    auto const late = late_for(to);
    std::vector<std::uint32_t> best;
    double best_spread = kMuchSteadier * before;
    auto const attempt = [&](const std::vector<std::uint32_t>& of) {
      if (!calls_.test_first(of, to).is_proved()) return;
      if (calls_.least_share_first(of) < kShareFirst) return;
      auto edges = incoming_;
      for (auto const from : of) {
        edges.push_back({.from = from, .to = to, .alternative = 1});
      }
      double const spread = spread_with(to, std::move(edges));
      if (spread > best_spread) return;
      best_spread = spread;
      best = of;
    };
    for (std::size_t a = 0; a < late.size(); ++a) {
      for (std::size_t b = a + 1; b < late.size(); ++b) {
        attempt({late[a], late[b]});
        for (std::size_t c = b + 1; c < late.size(); ++c) attempt({late[a], late[b], late[c]});
      }
    }
    for (auto const from : best) add(from, to, 1);
  }

  /// Of the calls that always ended before and are not known yet the one that makes the gap vary
  /// least, if by that part.
  std::optional<std::uint32_t> steadiest(std::uint32_t to, double part) const {
    std::optional<std::uint32_t> best;
    double best_spread = part * spread_with(to, incoming_);
    for (std::uint32_t from = 0; from < to; ++from) {
      bool const is_known = std::ranges::any_of(incoming_, [&](const DependencyEdge& edge) {
        return edge.from == from || before_[edge.from][from];
      });
      if (is_known || !tests_[from][to].holds()) continue;
      auto edges = incoming_;
      edges.push_back({.from = from, .to = to});
      double const spread = spread_with(to, std::move(edges));
      if (spread > best_spread) continue;
      best_spread = spread;
      best = from;
    }
    return best;
  }

  /// Calls that always ended before, and explain when it began.
  void add_steady(std::uint32_t to) {
    while (spread_with(to, incoming_) > steady_us_) {
      auto best = steadiest(to, kMuchSteadier);
      bool const is_known = best.has_value();
      if (!best && incoming_.empty()) best = steadiest(to, kSteadier);
      if (!best) return;
      add(*best, to, 0, is_known);
    }
  }

  /// Something waits for each call in each request; if nothing is known to, it is the next that
  /// always begins after its end. Returns whether there is such a thing.
  bool add_ambiguous(std::uint32_t from) {
    std::vector<const std::vector<CallTimes>*> left;
    for (auto const& row : calls_.rows()) {
      bool const is_awaited = std::ranges::any_of(edges_, [&](const DependencyEdge& edge) {
        return edge.from == from && row[edge.to].present;
      });
      if (row[from].present && !is_awaited) left.push_back(&row);
    }
    bool const was_awaited = std::ranges::find(edges_, from, &DependencyEdge::from) != edges_.end();
    auto const enough = was_awaited ? calls_.rows().size() / 50 : 0;
    bool added = false;
    for (auto to = from + 1; to < nodes_ && left.size() > enough; ++to) {
      if (!tests_[from][to].holds()) continue;
      auto const with = std::erase_if(left, [to](const auto* row) { return (*row)[to].present; });
      if (with == 0) continue;
      incoming_.clear();
      add(from, to, 0, false);
      keep(to);
      added = true;
    }
    return added || was_awaited;
  }

  void measure() {
    for (auto edge = edges_.begin(); edge != edges_.end();) {
      auto const end = std::ranges::find_if(
          edge, edges_.end(), [&](const DependencyEdge& other) { return other.to != edge->to; });
      std::span<const DependencyEdge> const all(edge, end);
      for (; edge != end; ++edge) measure(*edge, all);
    }
  }

  void measure(DependencyEdge& edge, std::span<const DependencyEdge> all) {
    std::vector<double> gaps;
    std::vector<double> slacks;
    for (auto const& row : calls_.rows()) {
      if (!row[edge.from].present || !row[edge.to].present) continue;
      auto const join =
          join_moments(all.data(), all.data() + all.size(), [&row](const DependencyEdge& other) {
            CallTimes const& from = row[other.from];
            return from.present ? std::optional(from.end_us) : std::nullopt;
          });
      auto const end = row[edge.from].end_us;
      gaps.push_back(static_cast<double>(row[edge.to].start_us - end));
      slacks.push_back(static_cast<double>(std::max<std::int64_t>(join.value_or(end) - end, 0)));
    }
    edge.loads = static_cast<std::uint32_t>(gaps.size());
    edge.gap_us = static_cast<std::int64_t>(median(gaps));
    edge.gap_spread_us = static_cast<std::int64_t>(standard_deviation(gaps));
    edge.slack_us = static_cast<std::int64_t>(median(slacks));
  }

  ObservedCalls calls_;
  double steady_us_;
  std::uint32_t nodes_;
  std::vector<std::vector<WaitTest>> tests_;  ///< by from and to
  std::vector<std::vector<bool>> before_;     ///< what a node waits for, over any number of edges
  std::vector<DependencyEdge> incoming_;      ///< to the node that is being learnt
  std::vector<DependencyEdge> edges_;
};

}  // namespace

LearntWaits learn_waits(std::vector<std::vector<CallTimes>> rows, std::int64_t grain_us) {
  ObservedCalls const given(std::move(rows), grain_us);
  auto order = order_of(given);
  auto out = WaitLearner(ObservedCalls(reordered(given.rows(), order), grain_us), grain_us).run();
  out.order = std::move(order);
  return out;
}

}  // namespace reprise
