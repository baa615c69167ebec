#include "shaper/packet/network/joined_connections.h"

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

#include "shaper/packet/network/delivery_wait.h"

namespace reprise {
namespace {

namespace net = boost::asio;
using net::ip::tcp;

constexpr auto kAsTuple = net::as_tuple(net::deferred);

template <class Socket>
void reset_socket(Socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(net::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

struct End {
  JoinedSocket socket;
  bool ended = false;   ///< its peer has sent everything, in order
  bool closed = false;  ///< its peer accepts no more data
  bool reset = false;   ///< by its peer: the end of its data is not an orderly one
};

struct Joined {
  std::shared_ptr<void> held;  // first, so it is released last
  End one;
  End other;
  std::function<void()> before_reset;

  void reset() {
    if (before_reset && !other.ended) std::exchange(before_reset, nullptr)();
    reset_socket(one.socket);
    reset_socket(other.socket);
  }
};

/// Waits until the peer has received everything, or accepts nothing.
net::awaitable<void> drain(JoinedSocket& socket) {
  net::steady_timer pause(socket.get_executor());
  DeliveryWait wait;
  while (socket.is_open()) {
    auto const left_bytes = undelivered_bytes(socket.native_handle());
    if (wait.is_over(left_bytes, std::chrono::steady_clock::now().time_since_epoch())) co_return;
    pause.expires_after(DeliveryWait::kPause);
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
    to.socket.shutdown(JoinedSocket::shutdown_send, ignored);
    // The other direction continues by itself.
    if (!from.closed) co_return;
  }
  // One connection is over. The peer of the other still has to receive what was sent to it.
  co_await drain(from.socket);
  co_await drain(to.socket);
  joined->reset();
}

}  // namespace

void reset_connection(tcp::socket& socket) {
  reset_socket(socket);
}

net::awaitable<void> join_connections(JoinedSocket one, JoinedSocket other,
                                      std::shared_ptr<void> held,
                                      std::function<void()> before_reset) {
  boost::system::error_code ignored;  // AF_UNIX has no such option
  for (JoinedSocket* const socket : {&one, &other}) {
    socket->set_option(tcp::no_delay(true), ignored);
  }
  auto const joined =
      std::make_shared<Joined>(std::move(held), End{.socket = std::move(one)},
                               End{.socket = std::move(other)}, std::move(before_reset));
  net::co_spawn(joined->one.socket.get_executor(), pump(joined, joined->one, joined->other),
                [](std::exception_ptr) {});
  co_await pump(joined, joined->other, joined->one);
}

}  // namespace reprise
