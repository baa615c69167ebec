#include "shaper/outages.h"

#include <algorithm>

namespace reprise {

using std::chrono::nanoseconds;

OutageClock::OutageClock(const Outages& outages, nanoseconds start)
    : outages_(outages), start_(start), on_per_period_(outages.repeat) {
  if (outages_.repeat == nanoseconds(0)) return;
  for (const auto& interval : outages_.off) on_per_period_ -= interval.to - interval.from;
}

OutageClock::State OutageClock::at(nanoseconds time) const {
  if (outages_.off.empty()) return {.off = false, .until = kNever};
  nanoseconds phase = time - start_;
  if (phase < nanoseconds(0)) return {.off = false, .until = start_ + outages_.off.front().from};
  if (outages_.repeat > nanoseconds(0)) phase %= outages_.repeat;
  auto const base = time - phase;
  auto const next = std::ranges::upper_bound(outages_.off, phase, {}, &Outages::Interval::to);
  if (next != outages_.off.end()) {
    bool const off = next->from <= phase;
    return {.off = off, .until = base + (off ? next->to : next->from)};
  }
  if (outages_.repeat == nanoseconds(0)) return {.off = false, .until = kNever};
  return {.off = false, .until = base + outages_.repeat};
}

nanoseconds OutageClock::on_time(nanoseconds from, nanoseconds to) const {
  nanoseconds on{0};
  if (outages_.repeat > nanoseconds(0) && to > from && from >= start_) {
    auto const periods = (to - from) / outages_.repeat;
    on += periods * on_per_period_;
    from += periods * outages_.repeat;
  }
  while (from < to) {
    State const state = at(from);
    auto const end = std::min(state.until, to);
    if (!state.off) on += end - from;
    from = end;
  }
  return on;
}

}  // namespace reprise
