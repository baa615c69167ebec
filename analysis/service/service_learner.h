#pragma once

// Infers what calls wait for from when they began and ended in many requests. Pure.

#include <cstdint>
#include <vector>

#include "analysis/service/observed_calls.h"

namespace reprise {

struct LearntWaits {
  std::vector<std::uint32_t> order;       ///< the given place of each node; the answer is the last
  std::vector<DependencyEdge> edges;      ///< by the new places, sorted as in a graph, measured
  std::vector<std::uint32_t> background;  ///< new places
};

/// `rows` are the requests; of each the calls, and last the answer, which is always present.
LearntWaits learn_waits(std::vector<std::vector<CallTimes>> rows, std::int64_t grain_us);

}  // namespace reprise
