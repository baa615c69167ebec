#pragma once

// The machines of a campaign: what each has shown before it measures, and which of them differ from
// the others. Pure.

#include <boost/json/object.hpp>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pageload/results/machine.h"

namespace reprise {

/// The check of one node: `reprise-node/1`.
struct NodeCheck {
  std::string plan;  ///< its digest
  std::string node;
  Machine machine;
  std::vector<std::string> browsers;  ///< "chromium Chrome/156.0"
  /// Why it cannot measure, sentences with the way out; empty: it can.
  std::vector<std::string> problems;
  /// Load events of the plan's first page as recorded, in ms: the same page on every node.
  std::vector<double> load_events_ms;
  double clock_ahead_s = 0;  ///< of the clock that stamps files in the plan's folder
};

boost::json::object to_json(const NodeCheck& check);
/// Errors: a sentence.
std::expected<NodeCheck, std::string> read_node_check(std::string_view text);

/// A node that must not measure, and why: a sentence.
struct RefusedNode {
  std::string node;
  std::string why;
};

/// A node differs when its load events are shifted against those of the others by at least this
/// part of their median, and not by chance: Mann-Whitney, at kNodeAlpha over all nodes.
inline constexpr double kNodeShift = 0.05;
inline constexpr double kNodeAlpha = 0.01;
/// Clocks that differ by more are reported; results do not depend on them.
inline constexpr double kClockSeconds = 60;

/// Those that have problems, and those that differ from the others, by name. The most different one
/// is named first, and the rest judged without it; of two nodes the slower one is named.
std::vector<RefusedNode> refused_nodes(std::span<const NodeCheck> checks);

}  // namespace reprise
