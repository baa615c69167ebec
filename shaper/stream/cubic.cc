#include "shaper/stream/cubic.h"

#include <algorithm>
#include <cmath>

namespace reprise {

using namespace std::chrono_literals;

namespace {

constexpr double kC = 0.4;
constexpr double kBeta = 0.7;
constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);
constexpr double kWindowMin = 2;
constexpr double kPaceMin = 2;        // half a window more a round trip
constexpr double kFirstPaceMax = 20;  // before the first loss, a twentieth

constexpr double kHystartWindowMin = 16;
constexpr int kHystartSamples = 8;
constexpr Cubic::Time kTrainGapMax = 2ms;
constexpr Cubic::Time kDelayMin = 4ms;
constexpr Cubic::Time kDelayMax = 16ms;

double seconds(Cubic::Time time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void Cubic::on_ack(double packets, std::optional<Time> rtt, std::uint64_t acknowledged,
                   std::uint64_t next, Time now) {
  if (rtt) rtt_min_ = std::min(rtt_min_.value_or(*rtt), *rtt);
  if (in_slow_start()) find_end_of_slow_start(rtt, acknowledged, next, now);
  if (in_slow_start()) {
    double const room = threshold_ - window_;
    window_ += std::min(packets, room);
    packets -= std::min(packets, room);
  }
  if (packets > 0) grow(packets, now);
}

void Cubic::find_end_of_slow_start(std::optional<Time> rtt, std::uint64_t acknowledged,
                                   std::uint64_t next, Time now) {
  if (acknowledged > round_end_) {
    round_end_ = next;
    round_start_ = train_end_ = now;
    round_rtt_.reset();
    round_samples_ = 0;
  }
  if (!rtt_min_ || window_ < kHystartWindowMin) return;
  if (now - train_end_ <= kTrainGapMax) {
    train_end_ = now;
    if (now - round_start_ > *rtt_min_ / 2) threshold_ = window_;
  }
  if (!rtt) return;
  round_rtt_ = std::min(round_rtt_.value_or(*rtt), *rtt);
  if (++round_samples_ <= kHystartSamples) return;
  if (*round_rtt_ > *rtt_min_ + std::clamp(*rtt_min_ / 8, kDelayMin, kDelayMax)) {
    threshold_ = window_;
  }
}

void Cubic::grow(double packets, Time now) {
  if (!epoch_start_) {
    epoch_start_ = now;
    w_est_ = window_;
    credit_ = 0;
    k_s_ = window_ < w_max_ ? std::cbrt((w_max_ - window_) / kC) : 0;
    origin_ = std::max(window_, w_max_);
  }
  w_est_ += kAlpha * packets / window_;
  double const t = seconds(now - *epoch_start_ + rtt_min_.value_or(0ns));
  double const target = std::floor(kC * std::pow(t - k_s_, 3) + origin_);
  // The number of acknowledged packets per packet of window growth.
  double pace = target > window_ ? window_ / (target - window_) : 100 * window_;
  if (w_max_ == 0) pace = std::min(pace, kFirstPaceMax);
  double const friendly = std::floor(w_est_);
  if (friendly > window_) pace = std::min(pace, window_ / (friendly - window_));
  pace = std::max(std::floor(pace), kPaceMin);
  if (credit_ >= pace) {  // the pace has increased
    credit_ = 0;
    ++window_;
  }
  credit_ += packets;
  double const grown = std::floor(credit_ / pace);
  credit_ -= grown * pace;
  window_ += grown;
}

void Cubic::on_loss() {
  epoch_start_.reset();
  // Fast convergence: a smaller window than last time means a new competing flow.
  w_max_ = window_ < w_max_ ? window_ * (1 + kBeta) / 2 : window_;
  threshold_ = std::max(std::floor(window_ * kBeta), kWindowMin);
}

void Cubic::on_timeout() {
  on_loss();
  window_ = 1;
}

void Cubic::on_idle(Time idle, Time timeout) {
  if (idle <= timeout) return;
  threshold_ = std::max(threshold_, window_ * 3 / 4);
  for (auto left = idle - timeout; left > 0ns && window_ > kInitialWindow; left -= timeout) {
    window_ = std::max(window_ / 2, kInitialWindow);
  }
  epoch_start_.reset();
}

}  // namespace reprise
