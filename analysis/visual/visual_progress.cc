#include "analysis/visual/visual_progress.h"

#include <algorithm>
#include <cstdint>

namespace reprise {

int percent_complete(const Histogram& frame, const Histogram& last) {
  std::uint64_t matched = 0;
  std::uint64_t total = 0;
  for (std::size_t channel = 0; channel < last.channels.size(); ++channel) {
    for (std::size_t value = 0; value < last.channels[channel].size(); ++value) {
      // A blank page has no pixels that count, so the change is the number itself.
      auto const target = last.channels[channel][value];
      matched += std::min(frame.channels[channel][value], target);
      total += target;
    }
  }
  return total == 0 ? 100 : static_cast<int>(matched * 100 / total);
}

std::optional<VisualProgress> visual_progress(std::span<const SeenFrame> frames) {
  if (frames.empty() || frames.back().histogram == Histogram()) return std::nullopt;
  VisualProgress progress;
  std::optional<double> complete_ms;
  double now_ms = 0;
  int seen = 0;
  for (const SeenFrame& frame : frames) {
    auto const at_ms = std::max(frame.at_ms, now_ms);
    progress.speed_index_ms += (at_ms - now_ms) * (100 - seen) / 100;
    now_ms = at_ms;
    seen = percent_complete(frame.histogram, frames.back().histogram);
    progress.percent.push_back(seen);
    if (!complete_ms && seen == 100) complete_ms = at_ms;
  }
  progress.visually_complete_ms = *complete_ms;
  return progress;
}

}  // namespace reprise
