#include "shaper/packet/wake_plan.h"

#include <algorithm>

namespace reprise {
namespace {

using Time = WakePlan::Time;

/// Idle processors take long to wake; what takes longer than this was busy.
constexpr Time kLeadMax = std::chrono::microseconds(150);
/// Saved up for bursts.
constexpr Time kLeftMax = std::chrono::milliseconds(5);
/// How far one sleep moves the estimates.
constexpr Time kStep = std::chrono::microseconds(2);

/// Moves `estimate` towards the quantile of what is observed (Robbins and Monro, 1951).
void learn(Time& estimate, Time observed, double quantile) {
  auto const share = observed > estimate ? quantile : quantile - 1;
  auto const moved = estimate + Time(static_cast<Time::rep>(share * 2 * double(kStep.count())));
  estimate = std::clamp(moved, Time(0), kLeadMax);
}

}  // namespace

WakePlan::WakePlan(unsigned processors, Time rest)
    : share_(processors > 1 ? kWatchShareMax : 0), rest_(rest) {}

std::optional<Time> WakePlan::wake_at(Time now, Time due) const {
  if (left_ <= Time(0)) return std::max(due - late_usually_, now + rest_ - late_usually_);
  auto const wake = due - std::min(late_rarely_, std::max((due - now) / 2, Time(0)));
  return wake < now + kSleepMin ? std::nullopt : std::optional(wake);
}

void WakePlan::slept(Time asked, Time woke) {
  learn(late_usually_, woke - asked, 0.5);
  learn(late_rarely_, woke - asked, 0.95);
  refill(woke);
}

void WakePlan::watched(Time from, Time now) {
  refill(now);
  left_ -= now - from;
}

void WakePlan::refill(Time now) {
  auto const gained =
      static_cast<Time::rep>(share_ * static_cast<double>((now - refilled_).count()));
  left_ = std::min(left_ + Time(gained), share_ > 0 ? kLeftMax : Time(0));
  refilled_ = now;
}

}  // namespace reprise
