#pragma once

// One observed request as it would be under a change. Pure.

#include <cstdint>
#include <map>
#include <optional>
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
  /// If starts are rounded, as those of OpenTelemetry for Node to ms, it is in proportion to the
  /// mean of all requests, so that the whole takes as long as was observed.
  std::int64_t own_us(std::size_t row, std::uint32_t node) const { return own_us_[row][node]; }
  /// The time of a call with all its attempts and the pauses between. `concurrency`: of calls to
  /// its dependency; 0: as in the change.
  std::int64_t call_us(std::size_t row, std::uint32_t node, std::mt19937_64& random,
                       double concurrency = 0) const;
  /// Of the whole request, without other users.
  std::int64_t took_us(std::size_t row, std::mt19937_64& random) const;

 private:
  /// Of one request, when each call ends; of a call that it did not make, nothing.
  using Ends = std::vector<std::optional<std::int64_t>>;

  std::int64_t join_us(const Ends& ends, std::uint32_t node) const;
  void learn_own_work();
  /// The means of all requests, by which each one is then put together.
  void learn_rounded_own_work();
  /// What one request took beyond the means: over all work on the path to its answer, in
  /// proportion.
  void share_out(std::size_t row, Ends ends);
  /// The call that `node` waits for to the last.
  std::optional<std::uint32_t> latest_before(const Ends& ends, std::uint32_t node) const;
  std::int64_t attempt_us(const ServiceAttempt& attempt, std::uint32_t node,
                          std::mt19937_64& random, double concurrency) const;

  const ServiceGraph& graph_;
  const ServiceChange& change_;
  std::vector<PlacedRequest> placed_;
  std::vector<std::vector<std::int64_t>> own_us_;
  std::vector<std::vector<double>> times_us_;  ///< of each node's operation, sorted
};

}  // namespace reprise
