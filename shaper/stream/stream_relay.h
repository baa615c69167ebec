#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/system/descriptor.h"
#include "shaper/packet/network/delivery_wait.h"
#include "shaper/stream/byte_queue.h"
#include "shaper/stream/stream_network.h"

namespace reprise {

/// One client's connection across the model: holds the data of each end until the model has
/// delivered it. Reads only what the model can send soon, and nothing while the other end does not
/// accept delivered data, so each end sees how slow the other is.
///
/// Sockets are non-blocking; the owner watches them for edges (EPOLLET). Not thread-safe.
class StreamRelay {
 public:
  using Time = StreamNetwork::Time;
  enum class End : std::uint8_t { client, proxy };

  /// The limit of bytes that wait for the congestion window: with more, urgent data waits behind
  /// data read earlier; with less, the window is not filled.
  static std::uint64_t unsent_max(const LinkSettings& direction);
  /// The limit of bytes delivered but not accepted by the other end: a receive buffer.
  static constexpr std::uint64_t kUntakenMax = 1 << 20;
  /// The limit of all bytes in one direction.
  static constexpr std::uint64_t kHeldMax = 16 << 20;

  /// Opens a connection in `network`, which must outlive this.
  StreamRelay(StreamNetwork& network, Descriptor client, const LinkProfile& profile, Time now);
  /// Closes both ends: the client is reset unless it has received the end.
  ~StreamRelay();
  StreamRelay(const StreamRelay&) = delete;
  StreamRelay& operator=(const StreamRelay&) = delete;

  /// The id in the network.
  std::uint64_t id() const { return id_; }
  int client() const { return ends_[0].socket.get(); }

  /// Sets the other end, once the network reports that the server's end is connected. If `aborted`
  /// is set when the proxy closes it, or data for it are unread then, the client is reset. The
  /// reset crosses the link behind the data sent before, and waits until the client has received
  /// them (DeliveryWait).
  void attach_proxy(Descriptor proxy, std::shared_ptr<const std::atomic<bool>> aborted);

  /// Handles epoll(7)'s events of one end.
  void on_ready(End end, std::uint32_t events);
  void on_event(const StreamEvent& event);

  /// Moves all data that can move.
  void pump(Time now);

  /// Whether a reset waits for the client: pump() is due again after DeliveryWait::kPause.
  bool waits_for_client() const { return reset_ && client_lags_; }
  /// Whether the relay has finished.
  bool done() const;
  /// Whether only this is left: the proxy is gone, and the client has all its data and their end,
  /// if they have one.
  bool idle_without_proxy() const;

 private:
  struct Socket {
    Descriptor socket;
    bool readable = false;
    bool writable = false;
    bool gone = false;  ///< closed by the peer, in both directions
  };
  /// One direction.
  struct Pipe {
    ByteQueue held;
    std::uint64_t passed = 0;
    std::uint64_t unsent_max = 0;
    bool source_ended = false;  ///< no more to read
    bool end_delivered = false;
    bool finished = false;  ///< the other end has received the end
  };

  Socket& end(End end) { return ends_[static_cast<std::size_t>(end)]; }
  const Socket& end(End end) const { return ends_[static_cast<std::size_t>(end)]; }
  Pipe& pipe(Direction direction) { return pipes_[static_cast<std::size_t>(direction)]; }
  const Pipe& pipe(Direction direction) const {
    return pipes_[static_cast<std::size_t>(direction)];
  }
  void take_in(Direction direction, Time now);
  std::size_t untaken(Direction direction) const;
  std::size_t room(Direction direction) const;
  void end_source(Direction direction, bool orderly, Time now);
  void pass_on(Direction direction);
  void pass_end(Direction direction);
  void wait_for_client(Time now);

  StreamNetwork& network_;
  std::uint64_t id_;
  std::array<Socket, 2> ends_;
  std::array<Pipe, 2> pipes_;
  std::shared_ptr<const std::atomic<bool>> aborted_;
  bool broken_ = false;  // the client is gone, or the model has abandoned the connection
  bool reset_ = false;   // the end of the proxy's data is a reset
  bool client_lags_ = false;
  bool reset_is_due_ = false;
  DeliveryWait delivery_;
};

}  // namespace reprise
