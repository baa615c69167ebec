#pragma once

// Asio as this project uses it: coroutines that return Results, completions as tuples.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "archive/result.h"

namespace reprise {

namespace net = boost::asio;
using net::awaitable;
using tcp = net::ip::tcp;

template <class T>
using Task = awaitable<Result<T>>;

/// Awaiting with this allocates nothing and throws nothing.
inline constexpr auto kTuple = net::as_tuple(net::deferred);

}  // namespace reprise
