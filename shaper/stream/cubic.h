#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace reprise {

/// A congestion window in packets: slow start from 10 (RFC 6928), ended by HyStart as in Linux (Ha
/// and Rhee 2011: by the delay of a round's first acknowledgements, or the length of their train),
/// then CUBIC (RFC 9438) in whole packets, as in Linux: it grows by one per number of
/// acknowledgements.
class Cubic {
 public:
  using Time = std::chrono::nanoseconds;

  static constexpr double kInitialWindow = 10;

  /// The permitted number of packets in flight.
  double window() const { return window_; }
  bool in_slow_start() const { return window_ < threshold_; }
  double threshold() const { return threshold_; }

  /// `packets` were acknowledged, the last of them after `rtt` (nothing if it was sent twice). All
  /// bytes below `acknowledged` have been; `next` is the next byte to send.
  void on_ack(double packets, std::optional<Time> rtt, std::uint64_t acknowledged,
              std::uint64_t next, Time now);

  /// A loss was found: computes the window to reduce to.
  void on_loss();
  /// For the recovery after on_loss(), which alone controls the window.
  void set_window(double packets) { window_ = packets; }
  /// Everything was lost: one packet.
  void on_timeout();
  /// Nothing was sent for `idle`: halves the window per `timeout` in it, down to the initial one.
  void on_idle(Time idle, Time timeout);

 private:
  void find_end_of_slow_start(std::optional<Time> rtt, std::uint64_t acknowledged,
                              std::uint64_t next, Time now);
  void grow(double packets, Time now);

  double window_ = kInitialWindow;
  double threshold_ = 1e9;

  // HyStart, for the round that ends when round_end_ is acknowledged.
  std::uint64_t round_end_ = 0;
  Time round_start_{0};
  Time train_end_{0};
  std::optional<Time> round_rtt_;
  int round_samples_ = 0;
  std::optional<Time> rtt_min_;

  // CUBIC, in the RFC's names.
  std::optional<Time> epoch_start_;
  double w_max_ = 0;  // 0: no loss yet
  double w_est_ = 0;
  double origin_ = 0;
  double k_s_ = 0;
  double credit_ = 0;  // packets acknowledged, not yet used for growth
};

}  // namespace reprise
