#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "shaper/stream/cubic.h"
#include "shaper/stream/rtt_estimator.h"
#include "shaper/stream/tcp_receiver.h"

namespace reprise {

/// The sending half of one direction: which bytes are sent when, as Linux does it without pacing.
/// Slow start and CUBIC; losses are detected by the arrival of later packets (RACK, RFC 8985, with
/// SACK), by a tail probe (TLP) and by the timeout (RFC 6298); recovery is proportional (PRR, RFC
/// 6937). Pure: the caller sends the results of next(), and calls on_timer() at timer().
class TcpSender {
 public:
  using Time = std::chrono::nanoseconds;

  /// Adds bytes written by the application.
  void write(std::uint64_t bytes, Time now);

  /// The next segment that may be sent now; it counts as sent.
  std::optional<SequenceRange> next(Time now);

  void on_ack(const Acknowledgement& ack, Time now);

  /// When to call on_timer().
  std::optional<Time> timer() const { return timer_; }
  void on_timer(Time now);

  /// A round trip measured by the handshake.
  void on_handshake(Time rtt) { rtt_.sample(rtt); }

  std::uint64_t written() const { return written_; }
  std::uint64_t sent() const { return next_; }
  std::uint64_t acknowledged() const { return acknowledged_; }
  /// Consecutive timeouts without an acknowledgement.
  int timeouts() const { return timeouts_; }
  double window() const { return cubic_.window(); }
  std::uint64_t retransmissions() const { return retransmissions_; }

 private:
  /// The sent segments start at acknowledged_, without gaps.
  struct Segment {
    SequenceRange bytes;
    Time sent{0};
    std::uint64_t order = 0;  ///< order of sending, over all segments
    bool sacked = false;
    bool lost = false;  ///< and not resent since
    bool resent = false;
  };
  /// The effect of an acknowledgement.
  struct News {
    std::uint32_t acknowledged = 0;  ///< packets newly acknowledged in order
    std::uint32_t delivered = 0;     ///< packets newly acknowledged in any way
    std::optional<Time> rtt;
  };
  enum class Timer : std::uint8_t { retransmission, probe, reordering };

  std::uint32_t in_flight() const;
  void deliver(const Segment& segment, News& news, Time now);
  News take(const Acknowledgement& ack, Time now);
  bool find_losses(Time now);
  void note_use(bool full);
  void lose(Segment& segment);
  void begin_recovery();
  void set_recovery_window(std::uint32_t delivered, bool safe);
  void grow(const News& news, Time now);
  void send(Segment& segment, Time now);
  void arm(Time now);
  void time_out(Time now);

  Cubic cubic_;
  RttEstimator rtt_;
  std::deque<Segment> segments_;
  std::uint64_t written_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t orders_ = 0;
  std::uint32_t sacked_ = 0;  // of segments_
  std::uint32_t lost_ = 0;
  Time last_sent_{0};
  std::uint64_t retransmissions_ = 0;

  // The latest sent of the delivered segments (RACK).
  std::uint64_t rack_order_ = 0;
  Time rack_rtt_{0};
  std::optional<Time> reordering_due_;

  // Recovery from loss, or slow start after a timeout, until this is acknowledged.
  std::optional<std::uint64_t> recovery_end_;
  bool timed_out_ = false;
  std::uint32_t recovery_flight_ = 0;
  std::uint32_t recovery_delivered_ = 0;
  std::uint32_t recovery_sent_ = 0;

  // How much of the window was used; otherwise it does not grow: the most in flight since the
  // window was last full, or in the last round.
  std::uint64_t use_end_ = 0;
  std::size_t use_max_ = 0;
  bool window_limited_ = false;

  std::optional<Time> timer_;
  Timer timer_kind_ = Timer::retransmission;
  std::optional<std::uint64_t> probe_end_;  // a probe is in flight until this is acknowledged
  bool probe_now_ = false;
  int timeouts_ = 0;
};

}  // namespace reprise
