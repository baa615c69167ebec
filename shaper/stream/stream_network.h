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

/// An event for the owner of the connections.
struct StreamEvent {
  enum class Kind : std::uint8_t {
    connected,        ///< the client's end is connected: one round trip after open()
    accepted,         ///< the server's end is connected: it may send from now on
    delivered,        ///< delivered() has grown
    ended,            ///< everything was delivered, including the end
    acknowledged,     ///< unsent() or unacknowledged() has shrunk
    failed,           ///< abandoned after too many timeouts, and closed
    datagram,         ///< `id` has arrived
    datagram_dropped  ///< `id` was lost
  };
  Kind kind;
  std::uint64_t id;     ///< of the connection or datagram
  Direction direction;  ///< of the bytes; down for connected, up for accepted

  bool operator==(const StreamEvent&) const = default;
};

/// TCP connections and datagrams across one emulated link, as a function of time: the stream shell
/// without sockets. All share the two directions of the link, their queues and their losses.
///
/// A proxy with real, unshaped connections uses it so: it calls open() when it accepts, write()
/// with the number of bytes that it received from either side, and passes these bytes on once
/// delivered() reports their arrival. TLS is bytes like any other. This approximates the packets of
/// a real TCP (tcp_sender.h says which one).
///
/// Not thread-safe. The times of calls must not decrease.
class StreamNetwork {
 public:
  using Time = std::chrono::nanoseconds;

  /// `start`: the begin of the profile's traces and outages.
  StreamNetwork(const LinkProfile& profile, std::uint64_t seed, Time start);

  /// Starts a handshake of a client. Ids are never reused.
  std::uint64_t open(Time now);

  /// Adds `bytes` written by one end to the other; they are sent once it is connected.
  void write(std::uint64_t connection, Direction direction, std::uint64_t bytes, Time now);
  /// Marks the end of one end's data. Only once.
  void finish(std::uint64_t connection, Direction direction, Time now);
  /// Removes a connection and its unsent data.
  void close(std::uint64_t connection);

  /// Sends a UDP datagram with `bytes` of payload; `id` is the caller's and is returned in an
  /// event.
  void send_datagram(std::uint64_t id, Direction direction, std::uint32_t bytes, Time now);

  /// When to call advance() next.
  std::optional<Time> next_event() const;
  /// Processes everything due by `now` and appends the events not yet returned.
  void advance(Time now, std::vector<StreamEvent>& events);

  /// Bytes that have arrived in order; 0 for a closed connection.
  std::uint64_t delivered(std::uint64_t connection, Direction direction) const;
  /// Bytes that wait at the sender for the congestion window; a proxy should keep this small.
  std::uint64_t unsent(std::uint64_t connection, Direction direction) const;
  /// Bytes that were written but not yet acknowledged.
  std::uint64_t unacknowledged(std::uint64_t connection, Direction direction) const;
  std::uint64_t retransmissions(std::uint64_t connection, Direction direction) const;

  /// Changes the link from `at` on (Link::change).
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
  /// Sends the pending packets of the connection, and notes its next wake.
  void serve(StreamConnection& connection, Time now);

  Link down_;
  Link up_;
  Time time_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, StreamConnection> connections_;
  std::priority_queue<Deadline> deadlines_;  // some are obsolete
  std::vector<StreamPacket> packets_;        // in the links; a Packet's handle is its index here
  std::vector<std::uint32_t> free_slots_;
  std::vector<Departure> due_;
  std::vector<StreamEvent> events_;
};

}  // namespace reprise
