#pragma once

// How an observed load made its connections, and what waited for them. Pure. Times are in us, as
// real numbers.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_page.h"
#include "analysis/dependency/page_nodes.h"
#include "analysis/prediction/load_parts.h"

namespace reprise {

struct SetupPhase {
  std::uint32_t node = 0;
  double ConnectionSetup::* part = nullptr;
  std::int64_t start_us = 0;
  double length_us = 0;
};

struct LoadSetups {
  std::vector<SetupPhase> phases;  ///< of requests that connected, or found no such name
  /// By origin, the node that made its first connection; if it shares another's, the one that
  /// looked its name up, or else the one that made that connection; nothing if that is not known.
  std::vector<std::optional<std::uint32_t>> first;
  std::vector<double> hidden_us;  ///< by origin, the part of its setup before that node started
};

/// Whether a node of the load is a request over the network.
bool is_sent(const DependencyGraph& graph, const PlacedLoad& placed, const LoadParts& parts,
             std::uint32_t node);

PredictedProtocol protocol_of(const Call& request);

/// Fills the origins, their shares and the round trip of `parts`, and of its nodes the origin,
/// whether it is local, its own setup, how long it was held, and how long sending took.
LoadSetups read_setups(const DependencyGraph& graph, const ObservedPage& load,
                       const PredictionLink& link, const PlacedLoad& placed, LoadParts& parts);

}  // namespace reprise
