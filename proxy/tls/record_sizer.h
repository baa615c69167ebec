#pragma once

#include <chrono>
#include <cstddef>

namespace reprise {

/// Decides how much content the next TLS record of a connection takes. The client can use no byte
/// of a record before it has the last one, so a record that exceeds the congestion window arrives a
/// round trip late. Therefore, at the start of a connection and after a pause in which TCP forgets
/// its window (RFC 5681 section 4.1), a record fits a segment. After the initial window it takes up
/// to a quarter of the bytes of one flight: once that is acknowledged, the window is at least as
/// wide. The connection's total does not count, because small answers, one per round trip, open no
/// window. Losses are not visible here. Pure; time is an argument.
class RecordSizer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The content of the smallest record. With the overhead of any cipher suite it fits a segment of
  /// Ethernet, with IPv6 and TCP's timestamps.
  static constexpr std::size_t kSegmentBytes = 1369;
  static constexpr std::size_t kRecordBytesMax = 16 << 10;  ///< RFC 8446 section 5.1
  /// What TCP sends before the first acknowledgement (RFC 6928).
  static constexpr std::size_t kInitialWindowBytes = 10 * kSegmentBytes;
  /// Data written after such a pause is another flight. On a link with a shorter round trip,
  /// flights count as one, and a record can be one such round trip late.
  static constexpr std::chrono::milliseconds kFlightPause{1};
  /// After such a pause TCP may start over: Linux's smallest retransmission timeout.
  static constexpr std::chrono::milliseconds kIdlePause{200};

  /// Call it when a write begins, and the socket has accepted everything written before.
  void begin(Time now) {
    auto const pause = now - last_;
    if (pause >= kFlightPause) end_flight();
    if (pause >= kIdlePause) window_bytes_ = 0;
    last_ = now;
  }
  /// Call it when a write continues after a wait for the socket, which had enough to send
  /// meanwhile.
  void go_on(Time now) { last_ = now; }

  /// The most content that the next record may take.
  std::size_t next_bytes() const {
    auto const shown = window_bytes_ + flight_bytes_;
    if (shown < kInitialWindowBytes) return kSegmentBytes;
    auto const segments = shown / kShareOfWindow / kSegmentBytes;
    return segments * kSegmentBytes < kRecordBytesMax ? segments * kSegmentBytes : kRecordBytesMax;
  }
  /// Call it for each record, with the size of its content.
  void sent(std::size_t content_bytes) { flight_bytes_ += content_bytes; }

 private:
  static constexpr std::size_t kShareOfWindow = 4;

  void end_flight() {
    if (flight_bytes_ > window_bytes_) window_bytes_ = flight_bytes_;
    flight_bytes_ = 0;
  }

  Time last_;
  std::size_t window_bytes_ = 0;  // the largest flight since the connection idled
  std::size_t flight_bytes_ = 0;  // sent since the last pause
};

}  // namespace reprise
