#pragma once

// When the calls of many requests began and ended, and what that says about two of them. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/service/service_graph.h"

namespace reprise {

/// A call in one request, or of several the first that ended; since the start of the request.
struct CallTimes {
  bool present = false;
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
};

/// What many requests say about whether one call waits for the end of another.
struct WaitTest {
  std::size_t both = 0;        ///< requests with both
  std::size_t violations = 0;  ///< in which it began before the end of the other
  /// The logarithm of the chance that none of them is violated if it does not wait: the times that
  /// the other call takes are then drawn anew.
  double log_chance = 0;

  bool holds() const;
  bool is_proved() const;
};

class ObservedCalls {
 public:
  /// By request and node; the last node is the answer. Times are rounded to `grain_us`.
  ObservedCalls(std::vector<std::vector<CallTimes>> rows, std::int64_t grain_us)
      : rows_(std::move(rows)), grain_us_(grain_us) {}

  std::size_t nodes() const { return rows_.empty() ? 0 : rows_.front().size(); }
  const std::vector<std::vector<CallTimes>>& rows() const { return rows_; }

  WaitTest test(std::uint32_t from, std::uint32_t to) const;
  /// Whether `to` waits for the first of several calls.
  WaitTest test_first(std::span<const std::uint32_t> from, std::uint32_t to) const;
  /// The part of the requests with all of them in which each one is the first to end, the smallest.
  double least_share_first(std::span<const std::uint32_t> of) const;
  /// Whether `node` is in each request with both others.
  bool always_with(std::uint32_t node, std::uint32_t a, std::uint32_t b) const;
  /// From the join of edges, which are sorted as in a graph, to the start of the node: of requests
  /// with the node, the 90th percentile less the 10th.
  double gap_spread(std::uint32_t node, std::span<const DependencyEdge> edges) const;

 private:
  template <class Times>
  WaitTest test_times(std::uint32_t to, const Times& times) const;

  std::vector<std::vector<CallTimes>> rows_;
  std::int64_t grain_us_;
};

}  // namespace reprise
