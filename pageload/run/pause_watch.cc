#include "pageload/run/pause_watch.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "base/system/text_file.h"

namespace reprise {

void PauseWatch::look(Time now, std::optional<Time> waited) {
  if (last_ && last_->waited && waited) {
    auto const lasted = now - last_->now - interval_ - (*waited - *last_->waited);
    if (lasted >= kPauseMin) pauses_.push_back({.from = last_->now, .to = now, .lasted = lasted});
  }
  last_ = Look{.now = now, .waited = waited};
}

PauseWatch::Time PauseWatch::between(Time from, Time to) const {
  Time sum{0};
  for (const Pause& each : pauses_) {
    auto const common = std::min(each.to, to) - std::max(each.from, from);
    sum += std::clamp(common, Time(0), each.lasted);
  }
  return sum;
}

std::optional<PauseWatch::Time> own_waiting_time() {
  auto const text = contents_of("/proc/thread-self/schedstat");
  std::int64_t waited = 0;
  // Time on a processor, and time waiting for one, in ns (Documentation/scheduler/sched-stats.rst).
  if (std::sscanf(text.c_str(), "%*lld %" SCNd64, &waited) != 1) return std::nullopt;
  return PauseWatch::Time(waited);
}

}  // namespace reprise
