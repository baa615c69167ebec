#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "shaper/stream/tcp_receiver.h"
#include "shaper/stream/tcp_sender.h"

namespace reprise {

/// Down is towards the client, up is from it.
enum class Direction : std::uint8_t { down, up };

constexpr Direction opposite(Direction direction) {
  return direction == Direction::down ? Direction::up : Direction::down;
}

/// What is in a packet of the stream model.
struct StreamPacket {
  enum class Kind : std::uint8_t { syn, syn_ack, segment, datagram } kind = Kind::segment;
  Direction direction = Direction::down;
  std::uint64_t id = 0;  ///< of the connection or datagram
  SequenceRange bytes;   ///< of a segment; empty when it only acknowledges
  Acknowledgement ack;
};

/// Both ends of one TCP connection. Pure: packets and times in, packets out.
class StreamConnection {
 public:
  using Time = std::chrono::nanoseconds;
  using Send = std::function<void(const StreamPacket&)>;

  /// The client begins a handshake with the next serve().
  explicit StreamConnection(std::uint64_t id);

  std::uint64_t id() const { return id_; }

  void write(Direction direction, std::uint64_t bytes, Time now);
  void finish(Direction direction, Time now);

  /// A packet has arrived at its end.
  void receive(const StreamPacket& packet, Time now);

  /// Sends all that may go now.
  void serve(Time now, const Send& send);

  /// When serve() has to be called although nothing has arrived.
  std::optional<Time> deadline() const;
  /// Whether a wake at `at` is earlier than what was noted before; it then is what is noted.
  bool note_wake(Time at);
  /// Whether a wake is the one that was noted; it is no more.
  bool take_wake(Time at);
  /// Makes of the deadlines that have passed what there is to send.
  void expire(Time now);

  bool connected() const { return end_of(Direction::up).established; }
  bool accepted() const { return end_of(Direction::down).established; }
  /// Too many timeouts.
  bool failed() const;

  std::uint64_t delivered(Direction direction) const;
  bool ended(Direction direction) const;
  std::uint64_t unsent(Direction direction) const;
  std::uint64_t unacknowledged(Direction direction) const;
  const TcpSender& sender(Direction direction) const { return end_of(direction).sender; }

 private:
  /// The end that sends in a direction: the client up, the server down.
  struct End {
    TcpSender sender;
    TcpReceiver receiver;  ///< of the other direction
    bool established = false;
    bool ack_now = false;
    bool finished = false;  ///< its end of data counts as one more byte
    // The handshake.
    bool hello_now = false;  ///< SYN or SYN-ACK
    std::optional<Time> hello_sent;
    std::optional<Time> hello_due;
    int hellos = 0;
  };

  End& end_of(Direction direction) { return ends_[static_cast<std::size_t>(direction)]; }
  const End& end_of(Direction direction) const {
    return ends_[static_cast<std::size_t>(direction)];
  }
  void establish(End& end, Time now);
  void serve_end(Direction direction, Time now, const Send& send);

  std::uint64_t id_;
  std::array<End, 2> ends_;
  std::optional<Time> wake_;
};

}  // namespace reprise
