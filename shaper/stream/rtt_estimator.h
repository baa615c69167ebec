#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace reprise {

/// Smoothed round trip and retransmission timeout (RFC 6298), with the minimum of Linux: 200 ms
/// above the round trip.
class RttEstimator {
 public:
  using Time = std::chrono::nanoseconds;

  void sample(Time rtt) {
    if (!smoothed_) {
      smoothed_ = rtt;
      variation_ = rtt / 2;
    } else {
      auto const off = *smoothed_ > rtt ? *smoothed_ - rtt : rtt - *smoothed_;
      variation_ = (3 * variation_ + off) / 4;
      smoothed_ = (7 * *smoothed_ + rtt) / 8;
    }
    least_ = std::min(least_.value_or(rtt), rtt);
  }

  std::optional<Time> smoothed() const { return smoothed_; }
  std::optional<Time> least() const { return least_; }

  /// Without back-off.
  Time timeout() const {
    if (!smoothed_) return std::chrono::seconds(1);
    return *smoothed_ + std::max<Time>(4 * variation_, std::chrono::milliseconds(200));
  }

 private:
  std::optional<Time> smoothed_;
  std::optional<Time> least_;
  Time variation_{0};
};

}  // namespace reprise
