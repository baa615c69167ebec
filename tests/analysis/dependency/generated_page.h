#pragma once

// Pages whose dependencies are known, and their loads in a small simulator: scripts that run in
// order, alternatives, joins, and a link that all transfers share. It has nothing in common with
// what learns from these loads and predicts them but the types of its results.

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_page.h"

namespace reprise {

/// A request, and the execution of its script.
struct GeneratedRequest {
  std::string url;
  std::string type;
  int initiator = -1;
  int host = 0;
  double bytes = 10'000;
  double think_ms = 20;
  // It starts `gap_ms` after all of these, or with `first_of` after the first of `ends`.
  std::vector<int> first_bytes;
  std::vector<int> ends;
  std::vector<int> executions;
  bool first_of = false;
  double gap_ms = 5;
  // Of a script: it runs after its end, these ends and these executions.
  double execution_ms = 0;  ///< 0: not a script
  std::vector<int> execution_ends;
  std::vector<int> execution_after;
  /// The load event and the first paint do not wait for it; the load event waits for no Fetch.
  bool asynchronous = false;
};

struct GeneratedPage {
  std::vector<GeneratedRequest> requests;
  double rtt_ms = 40;
  double bytes_per_ms = 1000;
  /// What servers write to the socket of a connection ahead of what is sent: until so much is
  /// unsent, and again when half of it is.
  double socket_bytes = 0;
  int largest = -1;   ///< the image that is the largest contentful paint
  bool tasks = true;  ///< whether loads show executions
  /// Whether loads show priorities; responses of a host then follow them, on one connection.
  bool priorities = false;

  /// The true graph, always with tasks and milestones; times are those of a load without jitter.
  DependencyGraph truth() const;
};

/// What is different in a load.
struct SimulatedChange {
  std::map<int, double> hold_ms;       ///< by request
  std::map<int, double> think_factor;  ///< by request
  std::map<int, double> bytes_factor;  ///< by request
  std::set<int> dropped;
  std::set<int> preloaded;  ///< sent at the first byte of the document, used as before
  double rtt_ms = 0;        ///< added to each round trip to a server of the page
  double rate = 1;          ///< of the link, a factor
  double cpu = 1;
};

GeneratedPage generate_page(std::uint64_t seed);

/// One load; `jitter` 0 is without chance.
ObservedPage simulate_load(const GeneratedPage& page, const SimulatedChange& change,
                           std::uint64_t seed, double jitter = 1);
std::vector<ObservedPage> simulate_loads(const GeneratedPage& page, const SimulatedChange& change,
                                         std::uint64_t seed, int loads);

/// The graph of `loads`, and what it becomes when each perturbation that it suggests has been made,
/// with three loads each.
struct SearchedGraph {
  DependencyGraph watched;  ///< before the first one
  DependencyGraph graph;
  std::size_t perturbations = 0;
};
SearchedGraph search_dependencies(const GeneratedPage& page, const std::vector<ObservedPage>& loads,
                                  std::uint64_t seed);

}  // namespace reprise
