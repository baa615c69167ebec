#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/system/descriptor.h"
#include "shaper/stream/byte_queue.h"
#include "shaper/stream/stream_network.h"

namespace reprise {

/// One client's connection across the model: what either end writes is held here until the model
/// has delivered it. No more is read than the model can send soon, and nothing while the other end
/// does not take what was delivered, so that either end feels how slow the other one is.
///
/// Sockets are non-blocking and watched by the owner for edges (EPOLLET). Not thread-safe.
class StreamRelay {
 public:
  using Time = StreamNetwork::Time;
  enum class End : std::uint8_t { client, proxy };

  /// Bytes that wait for the congestion window, at most: more, and what is urgent waits behind what
  /// was read before; less, and the window is not used. `rate_bps` is the link's, 0 unlimited.
  static std::uint64_t unsent_max(std::uint64_t rate_bps);
  /// Bytes that were delivered and not taken by the other end: a receive buffer.
  static constexpr std::uint64_t kUntakenMax = 1 << 20;
  /// All bytes of one direction.
  static constexpr std::uint64_t kHeldMax = 16 << 20;

  /// Opens a connection in `network`, which outlives this.
  StreamRelay(StreamNetwork& network, Descriptor client, const LinkProfile& profile, Time now);
  /// Closes both ends: the client is reset unless it was told the end.
  ~StreamRelay();
  StreamRelay(const StreamRelay&) = delete;
  StreamRelay& operator=(const StreamRelay&) = delete;

  /// In the network.
  std::uint64_t id() const { return id_; }
  int client() const { return ends_[0].socket.get(); }

  /// The other end, once the network says that the server's has accepted. When `aborted` is set by
  /// the time that the proxy closes it, the client is reset behind what was sent before.
  void attach_proxy(Descriptor proxy, std::shared_ptr<const std::atomic<bool>> aborted);

  /// epoll(7)'s events of one end.
  void on_ready(End end, std::uint32_t events);
  void on_event(const StreamEvent& event);

  /// Moves what may move.
  void pump(Time now);

  /// There is nothing to do any more.
  bool done() const;
  /// As little as that is left: the proxy is gone, and the client has all that it has sent.
  bool idle_without_proxy() const;

 private:
  struct Socket {
    Descriptor socket;
    bool readable = false;
    bool writable = false;
    bool gone = false;  ///< the peer has closed it, both ways
  };
  /// One direction.
  struct Pipe {
    ByteQueue held;
    std::uint64_t passed = 0;
    std::uint64_t unsent_max = 0;
    bool source_ended = false;  ///< nothing more to read
    bool end_delivered = false;
    bool finished = false;  ///< the other end was told the end
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

  StreamNetwork& network_;
  std::uint64_t id_;
  std::array<Socket, 2> ends_;
  std::array<Pipe, 2> pipes_;
  std::shared_ptr<const std::atomic<bool>> aborted_;
  bool broken_ = false;  // the client is gone, or the model has given up
  bool reset_ = false;   // the client is to be reset behind what is held
};

}  // namespace reprise
