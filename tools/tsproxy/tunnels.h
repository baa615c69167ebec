#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "base/result.h"
#include "proxy/stream/net.h"
#include "shaper/stream/stream_shell.h"
#include "tools/tsproxy/settings.h"
#include "tools/tsproxy/socks.h"

namespace reprise::tsproxy {

struct TunnelOptions {
  std::string destination;      ///< of all connections; empty: the one asked for
  bool redirect_local = false;  ///< also of those to this machine
};

/// The SOCKS5 listener and the connections that came through it. A connection is dialled at once,
/// then crosses the modelled link: its handshake there delays the client's first byte. Data are
/// passed on as in joined_connections.h: a destination's reset reaches the client behind its data.
/// Not thread-safe: on the thread of `context`, which must outlive this.
class Tunnels {
 public:
  Tunnels(net::io_context& context, TunnelOptions options, Settings settings);
  ~Tunnels();

  /// Accepts connections as long as the context runs. Returns the bound address. Errors: those of
  /// bind(2).
  Result<tcp::endpoint> listen(const tcp::endpoint& at);

  /// For connections from now on; those that are open keep their link.
  void change(const Settings& settings);
  const Settings& settings() const { return settings_; }

 private:
  class Link;
  struct Target {
    std::string host;
    std::uint16_t port;
  };

  awaitable<void> accept(tcp::acceptor listener);
  /// `counted` lives as long as the connection.
  awaitable<void> serve(tcp::socket client, std::shared_ptr<void> counted);
  awaitable<std::optional<Target>> shake_hands(tcp::socket& client);
  awaitable<std::optional<tcp::socket>> dial(const Target& target);
  Target target_of(const SocksRequest& request) const;
  /// The link of the settings, started on first use; null if nothing is limited.
  Result<std::shared_ptr<Link>> link();

  net::io_context& context_;
  TunnelOptions options_;
  Settings settings_;
  std::shared_ptr<Link> link_;
  std::shared_ptr<std::size_t> open_connections_ = std::make_shared<std::size_t>(0);
};

}  // namespace reprise::tsproxy
