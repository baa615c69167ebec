#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "dns/responder.h"

namespace reprise::dns {

/// Sockets for a stub, which the caller closes or passes on.
struct BoundSockets {
  boost::asio::ip::udp::endpoint at;
  int datagrams;
  int listener;
};

/// Binds UDP and TCP to this address and port, without serving. Port 0 selects a port that is free
/// for both. Errors: those of bind(2).
Result<BoundSockets> bind_sockets(const boost::asio::ip::udp::endpoint& at);

/// The stub on sockets: UDP and TCP (RFC 7766: many queries per connection, answered in order), any
/// number of addresses of either family, one responder. Everything runs on the thread of `context`.
///
/// Answers only clients at loopback, 198.18.0.0/15 and 192.0.2.0/24 unless `allow_remote`; the last
/// two are not routed (RFC 5737) and used by emulated networks. A TCP client that needs longer than
/// `tcp_idle` to send a query or to read its answers is closed; beyond `tcp_connections_max`, the
/// one with the earliest deadline is closed. A connection that sends anything but queries is
/// closed. Each holds at most 64 KiB of queries and 128 KiB of answers.
///
/// Answers that the responder delays wait here, at most kHeldMax of them; more datagrams get no
/// answer, and count as dropped. On a connection they also delay those that follow.
class Server {
 public:
  static constexpr std::size_t kHeldMax = 1024;

  struct Options {
    bool allow_remote = false;
    std::size_t tcp_connections_max = 128;
    std::chrono::milliseconds tcp_idle{10'000};
  };

  /// `responder` must live until stop().
  Server(boost::asio::io_context& context, Responder& responder, const Options& options);
  /// Stops. Pending work ends when the context runs next, or is destroyed with it.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds as bind_sockets() does, and serves. Returns the bound address.
  Result<boost::asio::ip::udp::endpoint> listen(const boost::asio::ip::udp::endpoint& at);

  /// Serves a bound UDP socket or a listening TCP socket, which may be of another network
  /// namespace. Takes ownership, even on failure. Errors: not_supported for other sockets; those of
  /// getsockopt(2).
  Result<void> adopt(int descriptor);

  /// Serves an accepted stream socket of any family, and owns it. The caller vouches for its client
  /// (see `allow_remote`). Call it on the thread of the context.
  void take(int descriptor);

  /// Answers a received UDP message, for whose client the caller vouches. `send` gets the reply
  /// when it is due, and nothing if there is no reply, or if kHeldMax wait; it is not called after
  /// stop(). Call it on the thread of the context, as it calls `send`.
  using Send = std::function<void(std::vector<std::uint8_t> reply)>;
  void answer(std::span<const std::uint8_t> query, Send send);

  /// Closes everything. Idempotent.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace reprise::dns
