#include "analysis/service/observed_calls.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/prediction/sampled_quantiles.h"

namespace reprise {
namespace {

/// One in ten thousand, as many pairs are tried.
const double kLogChance = std::log(1e-4);
/// One in so many requests may contradict, as clocks can be set.
constexpr std::size_t kViolationIn = 500;

}  // namespace

bool WaitTest::holds() const {
  return both > 0 && violations <= both / kViolationIn;
}

bool WaitTest::is_proved() const {
  return holds() && log_chance < kLogChance;
}

template <class Times>
WaitTest ObservedCalls::test_times(std::uint32_t to, const Times& times) const {
  WaitTest test;
  std::vector<std::int64_t> took;
  std::vector<std::int64_t> room;
  for (auto const& row : rows_) {
    CallTimes const from = times(row);
    if (!from.present || !row[to].present) continue;
    ++test.both;
    if (row[to].start_us + grain_us_ < from.end_us) ++test.violations;
    took.push_back(from.end_us - from.start_us);
    room.push_back(row[to].start_us + grain_us_ - from.start_us);
  }
  if (!test.holds()) return test;
  std::ranges::sort(took);
  auto const count = static_cast<double>(took.size());
  for (auto const each : room) {
    auto const longer = took.end() - std::ranges::upper_bound(took, each);
    test.log_chance += std::log1p(-static_cast<double>(longer) / (count + 1));
  }
  return test;
}

WaitTest ObservedCalls::test(std::uint32_t from, std::uint32_t to) const {
  return test_times(to, [from](const auto& row) { return row[from]; });
}

WaitTest ObservedCalls::test_first(std::span<const std::uint32_t> from, std::uint32_t to) const {
  return test_times(to, [from](const auto& row) {
    CallTimes first;
    for (auto const each : from) {
      if (!row[each].present) continue;
      if (!first.present) {
        first = row[each];
      } else {
        first.start_us = std::min(first.start_us, row[each].start_us);
        first.end_us = std::min(first.end_us, row[each].end_us);
      }
    }
    return first;
  });
}

double ObservedCalls::least_share_first(std::span<const std::uint32_t> of) const {
  std::map<std::uint32_t, std::size_t> first_of;
  std::size_t all = 0;
  for (auto const& row : rows_) {
    if (!std::ranges::all_of(of, [&](std::uint32_t each) { return row[each].present; })) continue;
    ++all;
    ++first_of[*std::ranges::min_element(of, {},
                                         [&](std::uint32_t each) { return row[each].end_us; })];
  }
  std::size_t least = all;
  for (auto const each : of) least = std::min(least, first_of[each]);
  return all == 0 ? 0 : static_cast<double>(least) / static_cast<double>(all);
}

bool ObservedCalls::always_with(std::uint32_t node, std::uint32_t a, std::uint32_t b) const {
  return std::ranges::all_of(rows_, [&](const auto& row) {
    return row[node].present || !row[a].present || !row[b].present;
  });
}

double ObservedCalls::gap_spread(std::uint32_t node, std::span<const DependencyEdge> edges) const {
  std::vector<double> gaps;
  for (auto const& row : rows_) {
    if (!row[node].present) continue;
    auto const join =
        join_moments(edges.data(), edges.data() + edges.size(), [&row](const DependencyEdge& edge) {
          CallTimes const& from = row[edge.from];
          return from.present ? std::optional(from.end_us) : std::nullopt;
        });
    gaps.push_back(static_cast<double>(row[node].start_us - join.value_or(0)));
  }
  if (gaps.empty()) return 0;
  return quantile_of(gaps, .9) - quantile_of(gaps, .1);
}

}  // namespace reprise
