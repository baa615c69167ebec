#pragma once

// Numbers of a page load that are made of many times. Pure.

#include <optional>
#include <span>

#include "pageload/results/page_load.h"

namespace reprise {

/// When nothing has loaded for this long, the last thing that did was the last.
inline constexpr double kLastLoadGapMs = 2000;

/// The Last Load Time: the latest load event of the page or of any of its resources, final once
/// none has come for kLastLoadGapMs. A resource has loaded when its body has ended without failure;
/// what has no load event (preflights, beacons, WebSockets, event streams) does not count. None
/// when the page had no load event.
std::optional<double> last_load_ms(const PageLoad& load);

/// How much the page moved under its reader at one moment.
struct LayoutShift {
  double at_s = 0;
  double value = 0;
};

/// The largest sum of shifts in a window: less than 1 s between two, at most 5 s in all
/// (https://web.dev/articles/cls). `shifts` in the order of their times; those after a recent input
/// of the user do not belong there.
double cumulative_layout_shift(std::span<const LayoutShift> shifts);

}  // namespace reprise
