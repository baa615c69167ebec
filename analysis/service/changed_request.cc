#include "analysis/service/changed_request.h"

#include <algorithm>
#include <cmath>

namespace reprise {
namespace {

/// Where starts are rounded to this or more, which of two calls ended first is known by their means
/// only.
constexpr std::int64_t kCoarseUs = 100;

/// In the concurrency of a moment: between the measured ones in proportion, since a dependency that
/// is busy takes as much longer as it has more calls; outside of them as the nearest one.
double loaded_at(const std::vector<std::pair<double, LatencyQuantiles>>& loaded, double share,
                 double concurrency) {
  auto const above = std::ranges::lower_bound(loaded, concurrency, {},
                                              &std::pair<double, LatencyQuantiles>::first);
  if (above == loaded.end()) return loaded.back().second.at(share);
  if (above == loaded.begin()) return above->second.at(share);
  auto const below = std::prev(above);
  return std::lerp(below->second.at(share), above->second.at(share),
                   (concurrency - below->first) / (above->first - below->first));
}

double from_0_to_1(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

}  // namespace

ChangedRequests::ChangedRequests(const ServiceGraph& graph,
                                 std::span<const ServiceRequest> requests,
                                 const ServiceChange& change)
    : graph_(graph), change_(change), placed_(placed_requests(graph, requests)) {
  learn_own_work();
  std::map<std::pair<std::string, std::string>, std::vector<double>> times;
  for (PlacedRequest const& row : placed_) {
    for (auto const* const call : row.calls) {
      if (call == nullptr) continue;
      auto& all = times[{call->dependency, call->operation}];
      for (ServiceAttempt const& attempt : call->attempts) {
        if (!attempt.failed) all.push_back(static_cast<double>(attempt.took_us()));
      }
    }
  }
  for (auto& [operation, all] : times) std::ranges::sort(all);
  for (std::uint32_t node = 0; node < graph.answer(); ++node) {
    DependencyNode const& each = graph.graph.nodes[node];
    times_us_.push_back(times[{each.type, each.function}]);
  }
}

std::int64_t ChangedRequests::join_us(const Ends& ends, std::uint32_t node) const {
  return join_of(graph_.graph, node, [&ends](std::uint32_t from) { return ends[from]; });
}

void ChangedRequests::learn_own_work() {
  auto const answer = graph_.answer();
  own_us_.assign(placed_.size(), std::vector<std::int64_t>(answer + 1));
  if (graph_.grain_us >= kCoarseUs) return learn_rounded_own_work();
  for (std::size_t row = 0; row < placed_.size(); ++row) {
    Ends ends(answer);
    for (std::uint32_t node = 0; node < answer; ++node) {
      auto const* const call = placed_[row].calls[node];
      if (call == nullptr) continue;
      own_us_[row][node] = call->start_us() - join_us(ends, node);
      ends[node] = call->end_us();
    }
    own_us_[row][answer] = placed_[row].request->took_us - join_us(ends, answer);
  }
}

void ChangedRequests::learn_rounded_own_work() {
  auto const answer = graph_.answer();
  std::vector<Ends> ends(placed_.size(), Ends(answer));
  for (std::uint32_t node = 0; node <= answer; ++node) {
    double sum = 0;
    double count = 0;
    for (std::size_t row = 0; row < placed_.size(); ++row) {
      auto const* const call = node == answer ? nullptr : placed_[row].calls[node];
      if (call == nullptr && node != answer) continue;
      auto const start = call == nullptr ? placed_[row].request->took_us : call->start_us();
      sum += static_cast<double>(start - join_us(ends[row], node));
      ++count;
    }
    auto const mean = count > 0 ? std::llround(sum / count) : 0;
    for (std::size_t row = 0; row < placed_.size(); ++row) {
      auto const* const call = node == answer ? nullptr : placed_[row].calls[node];
      own_us_[row][node] = mean;
      if (call != nullptr) ends[row][node] = join_us(ends[row], node) + mean + call->lasts_us();
    }
  }
  for (std::size_t row = 0; row < placed_.size(); ++row) share_out(row, std::move(ends[row]));
}

void ChangedRequests::share_out(std::size_t row, Ends ends) {
  auto const answer = graph_.answer();
  std::vector<std::int64_t>& own = own_us_[row];
  auto const took_us = placed_[row].request->took_us;
  auto usual = static_cast<double>(own[answer]);
  auto const longer = static_cast<double>(took_us - join_us(ends, answer)) - usual;
  for (auto node = latest_before(ends, answer); node; node = latest_before(ends, *node)) {
    usual += static_cast<double>(own[*node]);
  }
  double const factor = usual > 0 ? std::max(0.0, 1 + longer / usual) : 1;
  for (std::uint32_t node = 0; node < answer; ++node) {
    if (!ends[node]) continue;
    own[node] = std::llround(static_cast<double>(own[node]) * factor);
    ends[node] = join_us(ends, node) + own[node] + placed_[row].calls[node]->lasts_us();
  }
  own[answer] = took_us - join_us(ends, answer);
}

std::optional<std::uint32_t> ChangedRequests::latest_before(const Ends& ends,
                                                            std::uint32_t node) const {
  auto const join = join_us(ends, node);
  auto const [begin, end] = graph_.graph.edges_to(node);
  for (auto const* edge = begin; edge != end; ++edge) {
    if (ends[edge->from] == join) return edge->from;
  }
  return std::nullopt;
}

std::int64_t ChangedRequests::attempt_us(const ServiceAttempt& attempt, std::uint32_t node,
                                         std::mt19937_64& random, double concurrency) const {
  CallChange const& change = change_.calls[node];
  auto took = static_cast<double>(attempt.took_us());
  if (!attempt.failed && change.to) {
    double const share = change.from ? share_below(times_us_[node], took) : from_0_to_1(random);
    double const to = concurrency > 0 && !change.loaded.empty()
                          ? loaded_at(change.loaded, share, concurrency * change.calls_factor)
                          : change.to->at(share);
    took = change.from ? took + to - change.from->at(share) : to;
  }
  return std::max<std::int64_t>(std::llround(took) + change.add_us, 0);
}

std::int64_t ChangedRequests::call_us(std::size_t row, std::uint32_t node, std::mt19937_64& random,
                                      double concurrency) const {
  ServiceCall const& call = *placed_[row].calls[node];
  std::int64_t sum = 0;
  auto end = call.start_us();
  for (ServiceAttempt const& attempt : call.attempts) {
    sum += attempt.start_us - end + attempt_us(attempt, node, random, concurrency);
    end = attempt.end_us;
  }
  return std::max<std::int64_t>(sum, 0);
}

std::int64_t ChangedRequests::took_us(std::size_t row, std::mt19937_64& random) const {
  auto const& calls = placed_[row].calls;
  std::vector<std::optional<std::int64_t>> ends(calls.size());
  std::int64_t start = 0;
  for (std::uint32_t node = 0; node <= graph_.answer(); ++node) {
    bool const is_answer = node == graph_.answer();
    if (!is_answer && calls[node] == nullptr) continue;
    auto const join = join_of(graph_.graph, node, [&](std::uint32_t from) { return ends[from]; });
    auto const own = own_us(row, node);
    auto const longer = static_cast<double>(std::max<std::int64_t>(own, 0)) * (change_.cpu - 1);
    start = join + own + std::llround(longer);
    if (!is_answer) ends[node] = start + call_us(row, node, random);
  }
  return std::max<std::int64_t>(start, 0);
}

}  // namespace reprise
