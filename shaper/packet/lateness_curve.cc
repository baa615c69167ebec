#include "shaper/packet/lateness_curve.h"

namespace reprise {

void LatenessCurve::add(std::chrono::nanoseconds time, std::chrono::nanoseconds cost) {
  if (is_last_open()) {
    steps_.back() = {time, cost};
    return;
  }
  while (steps_.size() >= kStepsMax) merge();
  steps_.push_back({time, cost});
}

bool LatenessCurve::is_last_open() const {
  if (steps_.empty()) return false;
  std::chrono::nanoseconds before{0};
  if (steps_.size() > 1) before = steps_[steps_.size() - 2].cost;
  return steps_.back().cost - before < growth_min_;
}

/// Each step that goes had grown by less than the new limit, and what it hid by less than the
/// resolution so far: both are now before the step that stays.
void LatenessCurve::merge() {
  growth_min_ *= 2;
  resolution_ += growth_min_;
  std::chrono::nanoseconds kept{0};
  std::size_t count = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    bool const last = i + 1 == steps_.size();
    if (!last && steps_[i].cost - kept < growth_min_) continue;
    kept = steps_[i].cost;
    steps_[count++] = steps_[i];
  }
  steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(count), steps_.end());
}

}  // namespace reprise
