#pragma once

// A change of a page whose effect is predicted, as data. Pure.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/dependency/dependency_graph.h"

namespace reprise {

/// How requests to one origin share connections: one for all of them, or one each of at most six.
/// HTTP/3 counts as HTTP/2.
enum class PredictedProtocol : std::uint8_t { kH1, kH2 };

/// Urgencies: lower ones go first, of responses on a connection of HTTP/2, and of requests that
/// wait for one of HTTP/1.1. What has none that is known goes as a medium one.
inline constexpr int kUrgencyHigh = 1;
inline constexpr int kUrgencyMedium = 2;
inline constexpr int kUrgencyLow = 3;

/// How a script that held up the parser is loaded instead (changed_graph.h).
enum class ScriptLoading : std::uint8_t { kAsync, kDefer };

/// A change of some nodes. Times that would fall below 0 are 0.
struct NodeChange {
  double think_factor = 1;    ///< of the server's part of waiting for the first byte; from 0
  std::int64_t think_us = 0;  ///< added to it; any sign
  std::int64_t rtt_us = 0;    ///< added once for each round trip to the server; any sign
  std::int64_t dns_us = 0;    ///< added to looking up its name; any sign
  double bytes_factor = 1;    ///< from 0
  double bytes_added = 0;     ///< after the factor; any sign
  /// The request fails as soon as its host's name was looked up, and what it initiates is not made.
  bool drop = false;
  bool refused = false;  ///< the same, but its server is there and refuses it
  bool at_hand = false;  ///< its response is there when it is asked for, in the document
  bool cached = false;   ///< the same, in the browser's cache; not what came from there anyway
  /// The request is made when its document is taken up, and used when it was used before.
  bool preload = false;
  bool early_hints = false;  ///< the same, but before the server thinks about the document
  bool preconnect = false;   ///< its connection is made when its document is taken up
  bool coalesce = false;     ///< it uses the document's connection
  std::optional<ScriptLoading> loading;  ///< with a low urgency
  std::optional<int> urgency;
  std::optional<PredictedProtocol> protocol;
  /// Of tasks, and of the main thread's work between a node and what it waits for; from 0.
  double cpu_factor = 1;
};

struct PageChange {
  struct Part {
    std::vector<std::uint32_t> nodes;  ///< of the graph
    NodeChange change;
    /// Think times of which one is drawn for each request and sample, and added. A distribution
    /// that another analysis predicted, for example.
    std::vector<std::int64_t> think_draws_us;
  };
  std::vector<Part> parts;  ///< of a node in several of them, all apply
  double link_factor = 1;   ///< of the link's rate; above 0
};

/// All nodes, milestones too: for `cpu_factor` and `rtt_us` of a whole page.
std::vector<std::uint32_t> all_nodes(const DependencyGraph& graph);

}  // namespace reprise
