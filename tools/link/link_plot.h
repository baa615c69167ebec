#pragma once

#include <string>

#include "shaper/packet/link_series.h"

namespace reprise {

/// What a plot of a run on an emulated link shows.
struct LinkPlot {
  struct Direction {
    LinkTimeline timeline;
    double rate_limit_bps = 0;  ///< of the link; 0: unlimited, or not one number
  };
  std::string title;
  Direction down;
  Direction up;
};

/// An SVG document: queue, delay and rate over time, a column a direction, in the viewer's light or
/// dark colours. Of delays the line is the mean and the area the largest; drops are marks above the
/// queue. `title` is any UTF-8 text.
std::string to_svg(const LinkPlot& plot);

}  // namespace reprise
