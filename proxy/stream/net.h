#pragma once

// Asio as this project uses it: coroutines that return Results, completions as tuples.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "base/result.h"

namespace reprise {

namespace net = boost::asio;
using net::awaitable;
using tcp = net::ip::tcp;

template <class T>
using Task = awaitable<Result<T>>;

/// Awaiting with this token allocates nothing and throws nothing.
inline constexpr auto kTuple = net::as_tuple(net::deferred);

/// "127.0.0.1:80", "[::1]:80".
inline std::string to_text(const tcp::endpoint& at) {
  auto const address = at.address().to_string();
  return (at.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(at.port());
}

}  // namespace reprise
