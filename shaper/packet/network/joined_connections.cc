#include "shaper/packet/network/joined_connections.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <exception>
#include <tuple>
#include <utility>
#include <vector>

namespace reprise {
namespace {

namespace net = boost::asio;
using net::ip::tcp;

constexpr auto kAsTuple = net::as_tuple(net::deferred);
constexpr std::chrono::milliseconds kDrainPatience{30'000};
constexpr std::chrono::milliseconds kDrainPause{10};

struct End {
  tcp::socket socket;
  bool ended = false;   ///< its peer has sent everything, in order
  bool closed = false;  ///< its peer accepts no more data
  bool reset = false;   ///< by its peer: the end of its data is not an orderly one
};

struct Joined {
  End one;
  End other;
  std::shared_ptr<void> held;
};

/// Bytes that the peer has not acknowledged; 0 once the connection is over.
int undelivered_bytes(tcp::socket& socket) {
  if (!socket.is_open()) return 0;
  int const fd = socket.native_handle();
  tcp_info info{};
  socklen_t size = sizeof info;
  // The kernel's number of bytes stays as it was when the connection broke.
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  if (info.tcpi_state == TCP_CLOSE) return 0;
  int bytes = 0;
  return ::ioctl(fd, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

/// Waits until the peer has received everything, or nothing for kDrainPatience. No event of the
/// kernel tells, so it is asked again and again.
net::awaitable<void> drain(tcp::socket& socket) {
  net::steady_timer pause(socket.get_executor());
  int before = 0;
  for (auto patience = kDrainPatience; patience.count() > 0; patience -= kDrainPause) {
    int const left = undelivered_bytes(socket);
    if (left == 0) co_return;
    if (left != before) patience = kDrainPatience;
    before = left;
    pause.expires_after(kDrainPause);
    co_await pause.async_wait(kAsTuple);
  }
}

/// Passes data on until `from` has ended in order, or one of the connections is over.
net::awaitable<void> pass_data(End& from, End& to) {
  std::vector<char> buffer(kJoinedBytes);
  boost::system::error_code error;
  std::size_t size = 0;
  while (true) {
    std::tie(error, size) = co_await from.socket.async_read_some(net::buffer(buffer), kAsTuple);
    if (error) break;
    if (to.closed) continue;
    auto const [broken, written] =
        co_await net::async_write(to.socket, net::buffer(buffer, size), kAsTuple);
    if (!broken) continue;
    to.closed = true;
    // The kernel reports a reset only once: a read after it sees an end. EPIPE follows an orderly
    // end.
    to.reset = broken != net::error::broken_pipe;
    if (to.ended) co_return;
  }
  from.ended = error == net::error::eof && !from.reset;
}

/// One direction. Owns both connections.
net::awaitable<void> pump(std::shared_ptr<Joined> joined, End& from, End& to) {
  co_await pass_data(from, to);
  if (from.ended) {
    boost::system::error_code ignored;  // `to` may be closed
    to.socket.shutdown(tcp::socket::shutdown_send, ignored);
    // The other direction continues by itself.
    if (!from.closed) co_return;
  }
  // One connection is over. The peer of the other still has to receive what was sent to it.
  co_await drain(from.socket);
  co_await drain(to.socket);
  reset_connection(joined->one.socket);
  reset_connection(joined->other.socket);
}

}  // namespace

void reset_connection(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(tcp::socket::linger(true, 0), ignored);
  socket.close(ignored);
}

net::awaitable<void> join_connections(tcp::socket one, tcp::socket other,
                                      std::shared_ptr<void> held) {
  boost::system::error_code ignored;
  for (tcp::socket* const socket : {&one, &other}) {
    socket->set_option(tcp::no_delay(true), ignored);
  }
  auto const joined = std::make_shared<Joined>(End{.socket = std::move(one)},
                                               End{.socket = std::move(other)}, std::move(held));
  net::co_spawn(joined->one.socket.get_executor(), pump(joined, joined->one, joined->other),
                [](std::exception_ptr) {});
  co_await pump(joined, joined->other, joined->one);
}

}  // namespace reprise
