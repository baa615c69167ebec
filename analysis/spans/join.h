#pragma once

// Joins what servers recorded to the requests that a browser made (SPANS.md). Pure.

#include <span>
#include <vector>

#include "analysis/calls/call.h"
#include "analysis/spans/span.h"

namespace reprise {

/// Adds the spans of `set` to the requests in `trees` that caused them, as calls inside the phase
/// "wait", or inside the request if it has none. A request is joined by its attribute
/// "traceparent", else by its URL and time. Calls that the response's own fields had brought there
/// (server_calls.h) are replaced. `trees` are normalized, before and after.
/// Returns the losses of the whole set; a tree keeps its own.
std::vector<CallLoss> join_spans(std::span<CallTree* const> trees, const SpanSet& set);

}  // namespace reprise
