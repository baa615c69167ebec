#pragma once

// What a trace of Chromium (Trace Event Format), as `load --trace` writes it, says about what was
// seen of a page, and what kept it from being seen. Pure, but for reading its file.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "archive/import/source/byte_source.h"

namespace reprise {

/// Times are ms since the start of the page's own request, as in results of page loads.
struct TraceVisuals {
  struct Frame {
    double at_ms = 0;
    std::string jpeg;
  };
  struct Task {
    double start_ms = 0;
    double end_ms = 0;
  };
  /// Of the last candidate for the largest contentful paint.
  struct LargestPaint {
    double at_ms = 0;
    std::string node;  ///< "IMG class='hero'"; empty: the browser does not tell
    std::string type;  ///< "image" or "text"
    double pixels = 0;
  };
  std::vector<Frame> frames;
  std::vector<Task> long_tasks;  ///< of the main thread, 50 ms or more
  std::optional<double> first_contentful_paint_ms;
  std::optional<double> total_blocking_ms;  ///< nothing without a first contentful paint
  std::optional<LargestPaint> largest_paint;
  std::vector<std::string> render_blocking;  ///< URLs of requests that block painting, each once
};

inline constexpr std::size_t kSnapshotsMax = 1000;
inline constexpr std::size_t kSnapshotBytesMax = std::size_t{64} << 20;  ///< of all of a trace
inline constexpr double kLongTaskMs = 50;

/// Of the load of a page whose URL in the trace is one of `urls` (find_navigation()); where a
/// script led to another site, of that. Reads an untrusted trace; frames beyond the limits are left
/// out. Errors: a sentence.
std::expected<TraceVisuals, std::string> trace_visuals(importing::ByteReader& from,
                                                       std::span<const std::string> urls);

/// The same of a file, gzip or not. The error completes a sentence that begins with the path.
std::expected<TraceVisuals, std::string> trace_visuals_of(const std::filesystem::path& path,
                                                          std::span<const std::string> urls);

/// What is beyond kLongTaskMs of each task, or of its part after `from_ms`.
double blocking_ms(const std::vector<TraceVisuals::Task>& tasks, double from_ms);

}  // namespace reprise
