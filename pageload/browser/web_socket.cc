#include "pageload/browser/web_socket.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/bind_handler.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <utility>

namespace reprise {
namespace {

namespace net = boost::asio;
namespace websocket = boost::beast::websocket;

/// Closes at once: Beast would wait for the other side to close its end, too.
class Socket : public net::basic_stream_socket<net::ip::tcp, net::io_context::executor_type> {
 public:
  using basic_stream_socket::basic_stream_socket;
};

/// Beast finds this function by the type of its socket.
template <class Handler>
void async_teardown(boost::beast::role_type, Socket& socket, Handler&& handler) {
  boost::system::error_code none;
  socket.close(none);
  net::post(socket.get_executor(),
            boost::beast::bind_front_handler(std::forward<Handler>(handler), none));
}

/// The error of receive() for an error of Beast.
std::errc meaning_of(const boost::system::error_code& error) {
  if (error == websocket::error::message_too_big || error == websocket::error::buffer_overflow) {
    return std::errc::message_size;
  }
  bool const is_closed = error == websocket::error::closed || error == net::error::eof ||
                         error.category() == net::error::get_system_category();
  return is_closed ? std::errc::broken_pipe : std::errc::bad_message;
}

}  // namespace

/// Handlers run only inside receive() and send().
struct WebSocket::State {
  net::io_context context{1};
  websocket::stream<Socket, false> stream{context};
  boost::beast::flat_buffer incoming;
  std::deque<std::string>
      outgoing;  ///< the first one is being written, once the server has answered
  bool is_open = false;
  bool has_message = false;
  std::optional<std::errc> fault;

  void fail(const boost::system::error_code& error) {
    if (!fault) fault = meaning_of(error);
  }

  void begin(std::uint16_t port, const std::string& path) {
    auto const host = "127.0.0.1:" + std::to_string(port);
    stream.async_handshake(host, path, [this](const boost::system::error_code& error) {
      if (error) return fail(error);
      is_open = true;
      if (!outgoing.empty()) write();  // Firefox loses messages that arrive before it has answered
      read();
    });
  }

  void write() {
    stream.async_write(net::buffer(outgoing.front()),
                       [this](const boost::system::error_code& error, std::size_t) {
                         outgoing.pop_front();
                         if (error) return;  // the reading side reports it
                         if (!outgoing.empty()) write();
                       });
  }

  void read() {
    stream.async_read(incoming, [this](const boost::system::error_code& error, std::size_t) {
      if (error) return fail(error);
      has_message = true;
    });
  }

  std::string take_message() {
    auto const bytes = incoming.cdata();
    std::string message(static_cast<const char*>(bytes.data()), bytes.size());
    incoming.clear();
    has_message = false;
    read();
    return message;
  }
};

WebSocket::WebSocket(std::unique_ptr<State> state) : state_(std::move(state)) {}
WebSocket::~WebSocket() = default;

Result<std::unique_ptr<WebSocket>> WebSocket::connect(std::uint16_t port, const std::string& path,
                                                      std::size_t message_bytes_max) {
  auto state = std::make_unique<State>();
  auto& socket = state->stream.next_layer();
  boost::system::error_code error;
  socket.connect({net::ip::address_v4::loopback(), port}, error);
  if (!error) socket.set_option(net::ip::tcp::no_delay(true), error);
  if (error) return fail(error);
  state->stream.read_message_max(message_bytes_max);
  state->stream.auto_fragment(false);
  state->begin(port, path);
  return std::unique_ptr<WebSocket>(new WebSocket(std::move(state)));
}

void WebSocket::send(std::string_view message) {
  state_->outgoing.emplace_back(message);
  if (state_->is_open && state_->outgoing.size() == 1) state_->write();
  state_->context.restart();
  state_->context.poll();
}

Result<std::optional<std::string>> WebSocket::receive(TimePoint deadline) {
  bool looked = false;  // at what is there after the deadline
  while (!state_->has_message && !state_->fault) {
    state_->context.restart();  // it stops when no work is left, as after each message
    if (state_->context.run_one_until(deadline) > 0) continue;
    if (std::exchange(looked, true) || state_->context.poll() == 0) return std::nullopt;
  }
  if (state_->has_message) return state_->take_message();
  return fail(std::make_error_code(*state_->fault));
}

}  // namespace reprise
