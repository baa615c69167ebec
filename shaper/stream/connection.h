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

/// The contents of a packet of the stream model.
struct StreamPacket {
  enum class Kind : std::uint8_t { syn, syn_ack, segment, datagram } kind = Kind::segment;
  Direction direction = Direction::down;
  std::uint64_t id = 0;  ///< of the connection or datagram
  SequenceRange bytes;   ///< of a segment; empty for a pure acknowledgement
  Acknowledgement ack;
};

/// Both ends of one TCP connection. Pure: packets and times in, packets out.
class StreamConnection {
 public:
  using Time = std::chrono::nanoseconds;
  using Send = std::function<void(const StreamPacket&)>;

  /// The client begins a handshake at the next serve().
  explicit StreamConnection(std::uint64_t id);

  std::uint64_t id() const { return id_; }

  void write(Direction direction, std::uint64_t bytes, Time now);
  void finish(Direction direction, Time now);

  /// Handles a packet that has arrived at its end.
  void receive(const StreamPacket& packet, Time now);

  /// Sends everything that may be sent now.
  void serve(Time now, const Send& send);

  /// When to call serve() even if nothing has arrived.
  std::optional<Time> deadline() const;
  /// Records a wake at `at` if it is earlier than the recorded one; returns whether it is.
  bool note_wake(Time at);
  /// Whether this wake is the recorded one, which is then cleared.
  bool take_wake(Time at);
  /// Queues the packets for all deadlines that have passed.
  void expire(Time now);

  bool connected() const { return end_of(Direction::up).established; }
  bool accepted() const { return end_of(Direction::down).established; }
  /// Whether there were too many timeouts.
  bool failed() const;

  std::uint64_t delivered(Direction direction) const;
  bool ended(Direction direction) const;
  std::uint64_t unsent(Direction direction) const;
  std::uint64_t unacknowledged(Direction direction) const;
  const TcpSender& sender(Direction direction) const { return end_of(direction).sender; }

 private:
  /// The end that sends in one direction: the client up, the server down.
  struct End {
    TcpSender sender;
    TcpReceiver receiver;  ///< of the other direction
    bool established = false;
    bool ack_now = false;
    bool finished = false;  ///< the end of its data counts as one more byte
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
