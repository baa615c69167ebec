#pragma once

// What a response itself says about the time in the server, as calls in the wait of its request.
// These sources have durations without start times; SPANS.md says where they are laid. Pure.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "analysis/calls/call.h"
#include "analysis/spans/server_timing.h"
#include "analysis/trench/trench_trace.h"
#include "base/http/headers.h"

namespace reprise {

/// The attribute of calls made here, and its values.
inline constexpr std::string_view kSourceAttribute = "source";
inline constexpr std::string_view kFromServerTiming = "server-timing";
inline constexpr std::string_view kFromBanky = "banky";

/// Whether add_server_calls() reads this field.
bool tells_server_time(std::string_view field_name);

/// The phase "wait" directly inside `request`; the request itself if it has none. Takes time in
/// proportion to the calls after the request.
std::uint32_t wait_of(const CallTree& tree, std::uint32_t request);

/// The names that traces have given to calls, in all trees of one file: those are in memory
/// together.
struct TraceNames {
  static constexpr std::size_t kBytesMax = std::size_t{256} << 20;

  std::size_t bytes = 0;
};

/// Adds calls inside `wait`, which is any call of the tree. What is longer than its place is cut; a
/// trace with more calls than the tree has room for (kCallsMax), or with longer names than
/// TrenchTrace::kAllNamesBytesMax, or than `names` has room for, is skipped. These are losses of
/// the tree.
void add_server_timing(CallTree& tree, std::uint32_t wait, std::span<const ServerTiming> metrics);
void add_trench(CallTree& tree, std::uint32_t wait, const TrenchTrace& trace, TraceNames& names);

/// Adds calls inside `wait` by the untrusted fields of the response to `request`: by its trace in
/// Banky-Trace fields, else by Server-Timing. The request gets the attributes "trench-url" and
/// "trench-error" (a sentence), and of metrics without a duration "server-timing.NAME" with their
/// description. `fetched`, which can be null, is the trace that was fetched from its URL.
void add_server_calls(CallTree& tree, std::uint32_t request, std::uint32_t wait, TraceNames& names,
                      HeaderList head, HeaderList trailers = {},
                      const TrenchTrace* fetched = nullptr);

}  // namespace reprise
