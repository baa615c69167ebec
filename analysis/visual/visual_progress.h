#pragma once

// How a page became visible. README.md has the formula and its source. Pure.

#include <optional>
#include <span>
#include <vector>

#include "analysis/visual/histogram.h"

namespace reprise {

/// What the page looked like from a time on, in ms since the start of the load.
struct SeenFrame {
  double at_ms = 0;
  Histogram histogram;
};

struct VisualProgress {
  std::vector<int> percent;  ///< how complete each frame is: 0 to 100
  double speed_index_ms = 0;
  double visually_complete_ms = 0;  ///< the first frame that is complete
};

/// Of frames in the order of time; before the first one the page is blank. Nothing if the last
/// frame is blank.
std::optional<VisualProgress> visual_progress(std::span<const SeenFrame> frames);

/// The share of the way from a blank page to `last` in `frame`, in whole per cent, rounded down.
int percent_complete(const Histogram& frame, const Histogram& last);

}  // namespace reprise
