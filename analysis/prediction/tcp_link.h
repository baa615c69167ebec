#pragma once

// A link as a queue that connections of TCP fill. Packets leave it one after another at its rate,
// and what comes later waits, whoever sent it. A connection has as many bytes on their way as its
// window allows: ten segments at first (RFC 6928), twice as many each round trip, until a queue
// shows in the round trips (HyStart, RFC 9406, as Linux has it); then as CUBIC has it (RFC 9438),
// and up to there again after it was idle (RFC 5681, section 4.1). Of a connection's responses the
// most urgent go first, and those that are of no use in part one after another (RFC 9218, section
// 10), but after what the server has written to its socket already. Nothing is lost. Pure. Times
// are in us, as real numbers.

#include <compare>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace reprise {

/// How far a server writes ahead of what is sent over a connection. What is written goes before all
/// that comes later, whatever its priority.
struct WriteAhead {
  double bytes_max = 0;   ///< it writes until so much is not sent; 0: what can be sent at once
  double bytes_left = 0;  ///< and goes on when no more than this is left
};

/// What a server of HTTP/2 or HTTP/3 goes by.
struct TransferPriority {
  int urgency = 0;          ///< 0 is the most urgent
  bool incremental = true;  ///< of use in part: shares with those like it, after all that are not
  auto operator<=>(const TransferPriority&) const = default;
};

class TcpLink {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kSegmentBytes = 1460;
  static constexpr double kFirstWindowBytes = 10 * kSegmentBytes;
  /// A client can use no byte of a TLS record before it has the last one (RFC 8446, section 5.1).
  static constexpr double kRecordBytesMax = 16 << 10;
  /// Larger transfers are sent in larger packets, so that a load is not more of them.
  static constexpr double kPacketsMax = 20'000;

  /// What came out of the link.
  struct Arrival {
    std::size_t transfer = 0;
    bool is_first = false;
    bool has_record = false;  ///< with it, as much of the transfer as its first record can have
    bool is_last = false;
    bool operator==(const Arrival&) const = default;
  };

  /// A rate of 0 is unlimited. `bytes`: of all transfers together.
  TcpLink(double bytes_per_us, double bytes, WriteAhead ahead = {});

  /// A new connection over which an acknowledgement takes so long, and its number.
  std::size_t connect(double round_trip_us);
  /// A response begins at the time of the last advance(), which comes out at once if the link is
  /// idle. A connection of HTTP/1.1 has one at a time.
  void send(std::size_t connection, std::size_t transfer, double bytes,
            TransferPriority priority = {});

  /// How long something small that comes to the link now waits until it comes out.
  double wait_us() const;
  /// That, of a connection's TLS handshake, which others wait for: its first round trip that TCP
  /// measures.
  double handshake_wait_us(std::size_t connection);

  /// When something happens next if nothing is sent; kNever: no transfer goes on.
  double next() const;
  /// Moves on to that time, at most next(), and returns what comes out then.
  std::vector<Arrival> advance(double at_us);

 private:
  struct Transfer {
    std::size_t name = 0;
    TransferPriority priority;
    double left_bytes = 0;
    double record_bytes = 0;  ///< of its first one, which are not written
    bool is_begun = false;
  };
  /// Of a transfer, in a socket.
  struct Piece {
    double bytes = 0;
    Arrival arrival;
  };
  struct Connection {
    double round_trip_us = 0;
    double window_bytes = kFirstWindowBytes;
    double in_flight_bytes = 0;
    double threshold_bytes = kNever;           ///< of the window: slow start ends there
    double threshold_us = 0;                   ///< when that was found, and later by each pause
    double sent_us = 0;                        ///< the last packet
    double least_us = kNever;                  ///< of round trips, the queue that it met included
    double smoothed_us = 0, deviation_us = 0;  ///< of round trips, queues included (RFC 6298)
    std::vector<Transfer> transfers;           ///< that have bytes to write, in that order
    std::deque<Piece> socket;                  ///< what is written and not sent
    double unsent_bytes = 0;                   ///< of it
    bool is_stopped = false;                   ///< writing, until enough of that is sent
    // Of this round of acknowledgements, which ends with what was sent before it began.
    double sent_bytes = 0, acknowledged_bytes = 0, round_ends_bytes = 0;
    double most_in_flight_bytes = 0;
    double delayed_bytes = 0;  ///< received, and not acknowledged yet
    int samples = 0;           ///< of HyStart
    double least_of_round_us = kNever;
  };
  struct Packet {
    std::size_t connection = 0;
    double bytes = 0;
    double came_us = 0;
    double leaves_us = 0;
    Arrival arrival;
  };
  struct Acknowledgement {
    double at_us = 0;
    std::size_t connection = 0;
    double bytes = 0;
    double waited_us = 0;
    bool operator>(const Acknowledgement& other) const { return at_us > other.at_us; }
  };

  void send_what_may(std::size_t connection);
  bool may_send(const Connection& connection) const;
  void send_packet(std::size_t connection);
  void write_what_may(Connection& connection) const;
  void write_piece(Connection& connection) const;
  void take(const Acknowledgement& acknowledgement);
  void restart_if_idle(Connection& connection) const;
  static void measure(Connection& connection, double round_trip_us);
  void grow(Connection& connection, double bytes) const;
  void look_for_queue(Connection& connection, double round_trip_us) const;

  double bytes_per_us_;
  double packet_bytes_;
  WriteAhead ahead_;
  double now_us_ = 0;
  double free_us_ = 0;  ///< when all packets are out
  std::vector<Connection> connections_;
  std::deque<Packet> queue_;
  std::priority_queue<Acknowledgement, std::vector<Acknowledgement>, std::greater<>>
      acknowledgements_;
};

}  // namespace reprise
