#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "shaper/stream/cubic.h"
#include "shaper/stream/rtt_estimator.h"
#include "shaper/stream/tcp_receiver.h"

namespace reprise {

/// The sending half of one direction: which bytes go when, as Linux does it without pacing. Slow
/// start and CUBIC; loss is found by later packets that arrived (RACK, RFC 8985, with SACK), by a
/// probe of the tail (TLP) and by the timeout (RFC 6298); recovery is proportional (PRR, RFC 6937).
/// Pure: the caller sends what next() gives, and calls on_timer() at timer().
class TcpSender {
 public:
  using Time = std::chrono::nanoseconds;

  /// The application has written so many bytes.
  void write(std::uint64_t bytes, Time now);

  /// The next segment that may go now; it counts as sent.
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
  /// Timeouts one after the other without an acknowledgement.
  int timeouts() const { return timeouts_; }
  double window() const { return cubic_.window(); }
  std::uint64_t retransmissions() const { return retransmissions_; }

 private:
  /// From acknowledged_ on, without gaps.
  struct Segment {
    SequenceRange bytes;
    Time sent{0};
    std::uint64_t order = 0;  ///< of sending, over all segments
    bool sacked = false;
    bool lost = false;  ///< and not sent again since
    bool resent = false;
  };
  /// What an acknowledgement brought.
  struct News {
    std::uint32_t acknowledged = 0;  ///< packets, by number
    std::uint32_t delivered = 0;     ///< packets, in any way
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

  // The latest sent of what was delivered (RACK).
  std::uint64_t rack_order_ = 0;
  Time rack_rtt_{0};
  std::optional<Time> reordering_due_;

  // Until this is acknowledged: recovery from loss, after a timeout with slow start.
  std::optional<std::uint64_t> recovery_end_;
  bool timed_out_ = false;
  std::uint32_t recovery_flight_ = 0;
  std::uint32_t recovery_delivered_ = 0;
  std::uint32_t recovery_sent_ = 0;

  // How much of the window was used, without which it does not grow: the most that was under way
  // since the last time that it was full, or in the last round.
  std::uint64_t use_end_ = 0;
  std::size_t use_max_ = 0;
  bool window_limited_ = false;

  std::optional<Time> timer_;
  Timer timer_kind_ = Timer::retransmission;
  std::optional<std::uint64_t> probe_end_;  // a probe is out until this is acknowledged
  bool probe_now_ = false;
  int timeouts_ = 0;
};

}  // namespace reprise
