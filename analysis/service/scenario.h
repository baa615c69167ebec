#pragma once

// What would be different about a service, and what that is to the calls of its graph. Pure.

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/service/latency_profile.h"
#include "analysis/service/service_graph.h"

namespace reprise {

/// So many replicas of so many are lost.
struct LostReplicas {
  std::uint32_t lost = 0;
  std::uint32_t of = 0;
};

/// "postgresql: tier=large, size=1000", "redis: rtt=+20ms", "service: users=20".
/// docs/predict-service.md has all of them.
struct ServiceScenario {
  static constexpr std::string_view kService = "service";
  static constexpr std::uint32_t kUsersMax = 10'000;

  std::string text;
  std::string target;  ///< kService, or a glob of dependencies, or of the names of nodes
  std::optional<std::string> tier;
  std::optional<std::string> location;
  std::optional<double> size;
  std::optional<double> concurrency;
  std::optional<std::int64_t> rtt_us;  ///< added to each attempt; any sign
  std::optional<double> cpu;           ///< factor of the service's own work; above 0
  std::optional<std::uint32_t> users;  ///< of one replica of the service, at a time
  std::optional<LostReplicas> lost;
};
/// Errors: a sentence.
std::expected<ServiceScenario, std::string> parse_service_scenario(std::string_view text);

/// Of the calls of one node.
struct CallChange {
  /// Both: an attempt takes as much longer as `to` is above `from` at its rank among all attempts.
  /// Only `to`: its time is drawn from there.
  std::optional<LatencyQuantiles> from;
  std::optional<LatencyQuantiles> to;
  std::int64_t add_us = 0;
  /// By concurrency, instead of `to`, where many users are simulated. Empty: it is not known.
  std::vector<std::pair<double, LatencyQuantiles>> loaded;
  /// There, of the calls at a time: those of lost replicas of the dependency come to its others,
  /// and those for the users of lost replicas of the service are made by its others.
  double calls_factor = 1;
};

struct ServiceChange {
  std::vector<CallChange> calls;  ///< of each node but the answer
  double cpu = 1;
  std::uint32_t users = 0;           ///< at a time; 0: as observed
  std::uint32_t observed_users = 1;  ///< of a replica, when the traces were recorded
  std::vector<std::string> remarks;  ///< sentences

  bool draws() const;
};

/// Requests that were in the service at a time, the mean of the time in which one was; 1 if there
/// are none. Starts that are rounded to `grain_us` may be that much later.
double observed_concurrency(std::span<const ServiceRequest> requests, std::int64_t grain_us);

/// Errors: a sentence, when a scenario selects no dependency, or the profile does not have what it
/// needs.
std::expected<ServiceChange, std::string> service_change(const ServiceGraph& graph,
                                                         std::span<const ServiceRequest> requests,
                                                         std::span<const ServiceScenario> scenarios,
                                                         const LatencyProfile& profile);

}  // namespace reprise
