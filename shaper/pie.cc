#include "shaper/pie.h"

#include <algorithm>
#include <array>

namespace reprise {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

namespace {

constexpr nanoseconds kReference = milliseconds(15);
constexpr nanoseconds kPeriod = milliseconds(15);
constexpr nanoseconds kMaxBurst = milliseconds(150);
constexpr double kAlpha = 1.0 / 8;
constexpr double kBeta = 1.0 + 1.0 / 4;
constexpr double kDecay = 0.98;
/// A decaying probability below this is zero: one packet in ten million.
constexpr double kProbabilityMin = 1e-7;

/// Section 4.2: the smaller the probability, the smaller the steps.
struct Scale {
  double below;
  double divisor;
};
constexpr std::array<Scale, 6> kScales{
    {{0.000001, 2048}, {0.00001, 512}, {0.0001, 128}, {0.001, 32}, {0.01, 8}, {0.1, 2}}};

double seconds(nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

Pie::Pie(const ActiveQueue& settings, RandomStream random, nanoseconds now)
    : reference_(settings.target > nanoseconds(0) ? settings.target : kReference),
      period_(settings.interval > nanoseconds(0) ? settings.interval : kPeriod),
      random_(random),
      next_update_(now + period_),
      burst_allowance_(kMaxBurst) {}

bool Pie::drops(std::uint64_t index, std::uint64_t queue_bytes) const {
  if (burst_allowance_ > nanoseconds(0)) return false;
  if (qdelay_old_ < reference_ / 2 && drop_prob_ < 0.2) return false;
  if (queue_bytes <= 2 * kMtuBytes) return false;
  return random_.fraction(index) < drop_prob_;
}

void Pie::update(bool queue_empty) {
  next_update_ += period_;
  if (queue_empty) current_qdelay_ = nanoseconds(0);
  double step = kAlpha * seconds(current_qdelay_ - reference_) +
                kBeta * seconds(current_qdelay_ - qdelay_old_);
  auto const scale = std::ranges::find_if(kScales, [&](auto& s) { return drop_prob_ < s.below; });
  if (scale != kScales.end()) step /= scale->divisor;
  drop_prob_ += step;
  if (current_qdelay_ == nanoseconds(0) && qdelay_old_ == nanoseconds(0)) {
    drop_prob_ *= kDecay;
    if (drop_prob_ < kProbabilityMin) drop_prob_ = 0;
  }
  drop_prob_ = std::clamp(drop_prob_, 0.0, 1.0);
  burst_allowance_ = std::max(nanoseconds(0), burst_allowance_ - period_);
  if (drop_prob_ == 0 && current_qdelay_ < reference_ / 2 && qdelay_old_ < reference_ / 2) {
    burst_allowance_ = kMaxBurst;
  }
  qdelay_old_ = current_qdelay_;
}

void Pie::update_idle(nanoseconds now) {
  while (next_update_ <= now) {
    if (drop_prob_ == 0 && qdelay_old_ == nanoseconds(0)) {
      // Nothing changes any longer, so skip the rest.
      burst_allowance_ = kMaxBurst;
      next_update_ += ((now - next_update_) / period_ + 1) * period_;
      return;
    }
    update(true);
  }
}

}  // namespace reprise
