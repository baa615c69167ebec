#include "pageload/run/processor_time.h"

#include <algorithm>

namespace reprise {

void ProcessorTime::add(Time at, Time used) {
  if (!readings_.empty() && used < readings_.back().used) return;
  readings_.push_back({.at = at, .used = used});
}

ProcessorTime::Time ProcessorTime::used_at(Time at) const {
  if (readings_.empty()) return Time(0);
  auto const after = std::ranges::upper_bound(readings_, at, {}, &Reading::at);
  if (after == readings_.begin()) return after->used;
  auto const& before = *(after - 1);
  if (after == readings_.end()) return before.used;
  auto const part = static_cast<double>((at - before.at).count()) /
                    static_cast<double>((after->at - before.at).count());
  auto const grown = static_cast<double>((after->used - before.used).count());
  return before.used + Time(static_cast<Time::rep>(part * grown));
}

}  // namespace reprise
