#pragma once

// Joins what servers recorded to the requests that a browser made (SPANS.md). Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/calls/call.h"
#include "analysis/spans/span.h"

namespace reprise {

struct SpanJoin {
  std::uint64_t by_traceparent = 0;  ///< traces joined to a request exactly
  std::uint64_t by_url = 0;          ///< by URL and time
  std::vector<CallLoss> losses;      ///< of the whole set; a tree keeps its own
};

/// Adds the spans of `set` to the requests in `trees` that caused them, as calls inside the phase
/// "wait", or inside the request if it has none. A request is joined by its attribute
/// "traceparent", else by its URL and time. Calls that the response's own fields had brought there
/// (server_calls.h) are replaced. `trees` are normalized, before and after.
SpanJoin join_spans(std::span<CallTree* const> trees, const SpanSet& set);

}  // namespace reprise
