#pragma once

// Numbers of a page load that are derived from many times. Pure.

#include <optional>
#include <span>

#include "pageload/results/page_load.h"

namespace reprise {

/// A load is the last one if no other follows within this time.
inline constexpr double kLastLoadGapMs = 2000;

/// The Last Load Time: the latest load event of the page or of any of its resources, final once
/// none has followed for kLastLoadGapMs. A resource has loaded when its body has ended without
/// failure; requests without a load event (preflights, beacons, WebSockets, event streams) do not
/// count. Nothing if the page had no load event.
std::optional<double> last_load_ms(const PageLoad& load);

/// How much the page's contents moved at one moment.
struct LayoutShift {
  double at_s = 0;
  double value = 0;
};

/// The largest sum of shifts in a window: less than 1 s between two, at most 5 s in all
/// (https://web.dev/articles/cls). `shifts` are ordered by time, without those after a recent input
/// of the user.
double cumulative_layout_shift(std::span<const LayoutShift> shifts);

}  // namespace reprise
