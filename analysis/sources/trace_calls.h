#pragma once

// The main thread of a page in a trace of Chromium (Trace Event Format), as `load --trace` writes
// it. Pure, but for reading its file.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <span>
#include <string>

#include "analysis/calls/call.h"
#include "archive/import/source/byte_source.h"

namespace reprise {

inline constexpr std::size_t kTraceEventsMax = 2'000'000;
/// Shorter work counts as a part of what surrounds it. But runs of whole scripts are all kept: the
/// nodes of several loads are matched by how many equal ones came before them.
inline constexpr std::int64_t kTaskMinUs = 100;

/// Up to where work is added: the end of the view's window, or of its last request, if that is
/// later.
enum class TraceUntil : std::uint8_t { kWindow, kLastRequest };

/// Adds the work of the renderer's main thread to the view of a page, whose URL in the trace is one
/// of `urls` (find_navigation()): "script" with URL, function and line, "parse", "style", "layout",
/// "paint", "garbage collection", and "task" around them; and the page's measures of User Timing.
/// Time 0 is the start of the page's own request.
/// A request that the parser seems to have made while a script ran gets that script as initiator.
/// Requests of the page's own document get "render_blocking", the browser's word for whether
/// rendering waits for them.
/// Reads an untrusted trace. Errors: a sentence; then nothing has been added.
std::expected<void, std::string> add_trace(importing::ByteReader& from,
                                           std::span<const std::string> urls, CallTree& tree,
                                           TraceUntil until = TraceUntil::kWindow);

/// The same of a file. The error completes a sentence that begins with the path.
std::expected<void, std::string> add_trace_file(const std::filesystem::path& path,
                                                std::span<const std::string> urls, CallTree& tree,
                                                TraceUntil until = TraceUntil::kWindow);

}  // namespace reprise
