#pragma once

// Which address of a host to connect to: Happy Eyeballs, version 2 (RFC 8305).

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include "dns/ticket.h"

namespace reprise::dns {

/// The order in which to try addresses (RFC 8305 section 4): families by turns, IPv6 first, each in
/// the order given; those that are not `usable` after all others, since a wrong guess about that
/// must not cost the connection. Each address once. Pure.
std::vector<boost::asio::ip::address> dial_order(
    const std::vector<boost::asio::ip::address>& addresses,
    const std::function<bool(const boost::asio::ip::address&)>& usable);

/// Whether this machine has a route to the address. Sends nothing.
bool has_route(const boost::asio::ip::address& address);

struct DialOptions {
  /// How long each attempt is alone before the next begins beside it (RFC 8305 section 8).
  std::chrono::milliseconds stagger{250};
  /// For all attempts together.
  std::chrono::milliseconds timeout{15'000};
  /// A connection that was made and is not wanted, such as one that leads to this proxy itself; it
  /// counts as failed with too_many_symbolic_link_levels.
  std::function<bool(const boost::asio::ip::tcp::socket&)> refuse;
};

/// What came of one address.
struct DialAttempt {
  boost::asio::ip::tcp::endpoint at;
  std::chrono::steady_clock::time_point started;
  std::chrono::steady_clock::time_point ended;  ///< connected, failed or given up
  std::error_code error;  ///< none: this one it is; operation_canceled: another
};

struct Dialled {
  std::optional<boost::asio::ip::tcp::socket> socket;  ///< the first that was connected
  std::vector<DialAttempt> attempts;                   ///< in the order they were begun
  std::error_code error;  ///< without a socket: the last attempt's, timed_out, stopped
};

/// Connects to the first of `endpoints` that answers, beginning one after the other: the next when
/// one has failed or has had its time alone. All others are given up. The arguments live until it
/// returns.
boost::asio::awaitable<Dialled> dial(const std::vector<boost::asio::ip::tcp::endpoint>& endpoints,
                                     const DialOptions& options, Ticket& ticket);

}  // namespace reprise::dns
