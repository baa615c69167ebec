#pragma once

// One observed request as it would be under a change. Pure.

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "analysis/service/scenario.h"
#include "analysis/service/service_graph.h"

namespace reprise {

/// Borrows all of it.
class ChangedRequests {
 public:
  ChangedRequests(const ServiceGraph& graph, std::span<const ServiceRequest> requests,
                  const ServiceChange& change);

  std::size_t size() const { return placed_.size(); }
  const PlacedRequest& operator[](std::size_t row) const { return placed_[row]; }
  const ServiceGraph& graph() const { return graph_; }
  const ServiceChange& change() const { return change_; }

  /// The own work before a node, from the join of what it waits for; can be below 0 by rounding.
  /// Before a call it is the mean of all requests if starts are rounded, as those of OpenTelemetry
  /// for Node to ms: durations are exact there, and so is what is left before the answer.
  std::int64_t own_us(std::size_t row, std::uint32_t node) const { return own_us_[row][node]; }
  /// The time of a call with all its attempts and the pauses between. `concurrency`: of calls to
  /// its dependency; 0: as in the change.
  std::int64_t call_us(std::size_t row, std::uint32_t node, std::mt19937_64& random,
                       double concurrency = 0) const;
  /// Of the whole request, without other users.
  std::int64_t took_us(std::size_t row, std::mt19937_64& random) const;

 private:
  void learn_own_work();
  std::int64_t attempt_us(const ServiceAttempt& attempt, std::uint32_t node,
                          std::mt19937_64& random, double concurrency) const;

  const ServiceGraph& graph_;
  const ServiceChange& change_;
  std::vector<PlacedRequest> placed_;
  std::vector<std::vector<std::int64_t>> own_us_;
  std::vector<std::vector<double>> times_us_;  ///< of each node's operation, sorted
};

}  // namespace reprise
