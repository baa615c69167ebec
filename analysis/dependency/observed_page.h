#pragma once

// One load of a page, as dependencies are learnt from it and as it is predicted from. Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/calls/call.h"
#include "analysis/dependency/dependency_graph.h"
#include "pageload/results/load_result.h"

namespace reprise {

/// A load's calls and milestones.
struct ObservedPage {
  CallTree calls;  ///< normalized
  /// By Milestone, in us since the start of the view; nothing if it was not reached.
  std::array<std::optional<std::int64_t>, kMilestones> milestones;
  /// Of the image that the largest contentful paint was; empty: text. Nothing: unknown.
  std::optional<std::string> largest_url;
  std::size_t load = 0;  ///< its place in LoadResult::loads, where its trace is named
};

/// The loads that count, as calls_of() (analysis/sources/load_calls.h) gives them; the others are a
/// loss of `losses`. The main thread is added to `calls` by add_trace() (trace_calls.h).
std::vector<ObservedPage> observed_pages(const LoadResult& result, std::vector<CallLoss>& losses);

}  // namespace reprise
