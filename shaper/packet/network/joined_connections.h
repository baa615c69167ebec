#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>

namespace reprise {

/// The limit of bytes per direction that a join holds between two connections.
inline constexpr std::size_t kJoinedBytes = 65536;

/// Closes a connection so that its peer sees an abnormal end. Unsent data are lost.
void reset_connection(boost::asio::ip::tcp::socket& socket);

/// Of TCP, or AF_UNIX.
using JoinedSocket = boost::asio::generic::stream_protocol::socket;

/// Joins two connections: passes the bytes of each to the other, and each end of data. Each side
/// waits for the other.
///
/// After a peer has reset its connection, or has closed it and is still sent data, what it sent
/// before reaches the other peer first, and then the other connection is reset, too: once that peer
/// has received everything, or has received nothing for 30 seconds. Meanwhile data for the closed
/// connection are discarded.
///
/// The peer of an AF_UNIX socket sees only its close, so `before_reset` can tell it: it is called
/// at most once, before both are closed, if the data of `other` have not ended in order.
///
/// May return while one direction is still open; `held` is released once both connections are
/// closed. All in the thread of their executor, which is the same for both.
boost::asio::awaitable<void> join_connections(JoinedSocket one, JoinedSocket other,
                                              std::shared_ptr<void> held,
                                              std::function<void()> before_reset = {});

}  // namespace reprise
