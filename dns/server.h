#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "dns/responder.h"

namespace reprise::dns {

/// Sockets for a stub, which the caller closes or hands on.
struct BoundSockets {
  boost::asio::ip::udp::endpoint at;
  int datagrams;
  int listener;
};

/// Binds UDP and TCP at this address and port, for port 0 at one that is free for both, without
/// serving. Errors: those of bind(2).
Result<BoundSockets> bind_sockets(const boost::asio::ip::udp::endpoint& at);

/// The stub on sockets: UDP and TCP (RFC 7766: many queries a connection, answered in order), any
/// number of addresses of either family, one responder. All on the thread that runs `context`.
///
/// Only loopback, 198.18.0.0/15 and 192.0.2.0/24, which no network routes (RFC 5737) and emulated
/// ones use, are answered unless `allow_remote`. Over TCP a client that takes longer than
/// `tcp_idle` for a query or for taking its answers is closed, and beyond `tcp_connections_max` the
/// one that would be closed first. A connection that sends what is no query is closed. Each holds
/// at most 64 KiB of queries and 128 KiB of answers.
class Server {
 public:
  struct Options {
    bool allow_remote = false;
    std::size_t tcp_connections_max = 128;
    std::chrono::milliseconds tcp_idle{10'000};
  };

  /// `responder` lives until stop().
  Server(boost::asio::io_context& context, Responder& responder, const Options& options);
  /// Stops. What was under way ends when the context runs next, or goes down with it.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds as bind_sockets() does, and serves. Returns where.
  Result<boost::asio::ip::udp::endpoint> listen(const boost::asio::ip::udp::endpoint& at);

  /// Serves a bound UDP socket or a listening TCP socket, made elsewhere, maybe in another network
  /// namespace, and owns it from here on, even when this fails. Errors: not_supported for anything
  /// else; those of getsockopt(2).
  Result<void> adopt(int descriptor);

  /// Serves a connected stream socket of any family that somebody else has accepted, who knows that
  /// its client may be answered, and owns it from here on. On the thread that runs the context.
  void take(int descriptor);

  /// Answers a UDP message that somebody else has received, who knows the same; empty when nothing
  /// is to be said. On the thread that runs the context.
  std::vector<std::uint8_t> answer(std::span<const std::uint8_t> query);

  /// Closes everything. Idempotent.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace reprise::dns
