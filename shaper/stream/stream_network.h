#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "shaper/link.h"
#include "shaper/profile.h"
#include "shaper/stream/connection.h"

namespace reprise {

/// Something that the owner of the connections may wait for.
struct StreamEvent {
  enum class Kind : std::uint8_t {
    connected,        ///< the client's end is: one round trip after open()
    accepted,         ///< the server's end is: it may send from now on
    delivered,        ///< delivered() has grown
    ended,            ///< all was delivered, and the end of it
    acknowledged,     ///< unsent() or unacknowledged() has shrunk
    failed,           ///< given up after too many timeouts, and closed
    datagram,         ///< `id` has arrived
    datagram_dropped  ///< `id` never will
  };
  Kind kind;
  std::uint64_t id;     ///< of the connection or datagram
  Direction direction;  ///< of the bytes; down for connected, up for accepted

  bool operator==(const StreamEvent&) const = default;
};

/// TCP connections and datagrams across one emulated link, as a function of time: the stream shell
/// without sockets. All share the two directions of the link, their queues and their losses.
///
/// A proxy that has real, unshaped connections wraps it so: it calls open() as it accepts, write()
/// with the count of the bytes that either side has given it, and passes these bytes on once
/// delivered() says that they have arrived. TLS is bytes like any other. It is an approximation of
/// the packets of a real TCP (tcp_sender.h says of which).
///
/// Not thread-safe. The times given must not decrease.
class StreamNetwork {
 public:
  using Time = std::chrono::nanoseconds;

  /// `start` is when traces and outages of the profile begin.
  StreamNetwork(const LinkProfile& profile, std::uint64_t seed, Time start);

  /// The client begins a handshake. Ids are never used again.
  std::uint64_t open(Time now);

  /// One end has written so many bytes towards the other; they are sent once it is connected.
  void write(std::uint64_t connection, Direction direction, std::uint64_t bytes, Time now);
  /// One end will write no more. Once only.
  void finish(std::uint64_t connection, Direction direction, Time now);
  /// Forgets a connection, and what it has not sent.
  void close(std::uint64_t connection);

  /// A UDP datagram; `id` is the caller's and comes back in an event. `bytes` is what it carries.
  void send_datagram(std::uint64_t id, Direction direction, std::uint32_t bytes, Time now);

  /// When to call advance() next.
  std::optional<Time> next_event() const;
  /// Lets everything happen that is due by `now` and appends what was not told yet.
  void advance(Time now, std::vector<StreamEvent>& events);

  /// Bytes that have arrived in order. 0 of a connection that is closed.
  std::uint64_t delivered(std::uint64_t connection, Direction direction) const;
  /// Bytes that wait at the sender for the congestion window: what a proxy should keep small.
  std::uint64_t unsent(std::uint64_t connection, Direction direction) const;
  /// Bytes that were written and not yet acknowledged.
  std::uint64_t unacknowledged(std::uint64_t connection, Direction direction) const;
  std::uint64_t retransmissions(std::uint64_t connection, Direction direction) const;

  /// Another link from `at` on (Link::change).
  void change(const LinkProfile& profile, Time at);

  const Link& link(Direction direction) const { return direction == Direction::down ? down_ : up_; }

 private:
  struct Deadline {
    Time at;
    std::uint64_t connection;

    /// For a heap whose top is the earliest.
    bool operator<(const Deadline& other) const {
      return at != other.at ? at > other.at : connection > other.connection;
    }
  };

  Link& link_of(Direction direction) { return direction == Direction::down ? down_ : up_; }
  const StreamConnection* find(std::uint64_t connection) const;
  void run(Time now);
  void take_from(Direction direction, Time now);
  void arrive(std::uint32_t slot, Time now);
  void wake(const Deadline& deadline, Time now);
  void transmit(const StreamPacket& packet, Time now);
  void release(std::uint32_t slot, bool arrived);
  /// Sends what the connection has to send, and notes when it wants to be woken.
  void serve(StreamConnection& connection, Time now);

  Link down_;
  Link up_;
  Time time_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, StreamConnection> connections_;
  std::priority_queue<Deadline> deadlines_;  // some have passed without reason
  std::vector<StreamPacket> packets_;        // in the links; a Packet's handle is the place here
  std::vector<std::uint32_t> free_slots_;
  std::vector<Departure> due_;
  std::vector<StreamEvent> events_;
};

}  // namespace reprise
