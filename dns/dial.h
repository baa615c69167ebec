#pragma once

// Selects the address of a host to connect to: Happy Eyeballs, version 2 (RFC 8305).

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include "dns/ticket.h"

namespace reprise::dns {

/// The order in which to try addresses (RFC 8305 section 4): families alternate, IPv6 first, each
/// in the given order. Addresses that are not `usable` come last instead of being dropped, because
/// that guess can be wrong. Each address once. Pure.
std::vector<boost::asio::ip::address> dial_order(
    const std::vector<boost::asio::ip::address>& addresses,
    const std::function<bool(const boost::asio::ip::address&)>& usable);

/// Whether this machine has a route to the address. Sends nothing.
bool has_route(const boost::asio::ip::address& address);

struct DialOptions {
  /// How long an attempt runs alone before the next one starts (RFC 8305 section 8).
  std::chrono::milliseconds stagger{250};
  /// For all attempts together.
  std::chrono::milliseconds timeout{15'000};
  /// Rejects a new connection, such as one to this proxy itself; the attempt then fails with
  /// too_many_symbolic_link_levels.
  std::function<bool(const boost::asio::ip::tcp::socket&)> refuse;
};

/// The result for one address.
struct DialAttempt {
  boost::asio::ip::tcp::endpoint at;
  std::chrono::steady_clock::time_point started;
  std::chrono::steady_clock::time_point ended;  ///< connected, failed or cancelled
  std::error_code error;  ///< none: this one was chosen; operation_canceled: another was
};

struct Dialled {
  std::optional<boost::asio::ip::tcp::socket> socket;  ///< the first that connected
  std::vector<DialAttempt> attempts;                   ///< in the order in which they started
  std::error_code error;  ///< without a socket: the last attempt's, timed_out, stopped
};

/// Connects to the first of `endpoints` that answers. The next attempt starts when one has failed,
/// or has run alone for `stagger`; when one connects, the others are cancelled. The arguments must
/// live until it returns.
boost::asio::awaitable<Dialled> dial(const std::vector<boost::asio::ip::tcp::endpoint>& endpoints,
                                     const DialOptions& options, Ticket& ticket);

}  // namespace reprise::dns
