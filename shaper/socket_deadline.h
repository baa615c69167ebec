#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>

namespace reprise {

/// Closes a socket of Asio at a deadline, unless destroyed before. Both in the thread of its
/// context.
template <class Socket>
class SocketDeadline {
 public:
  SocketDeadline(Socket& socket, std::chrono::milliseconds patience)
      : socket_(std::make_shared<Socket*>(&socket)), timer_(socket.get_executor(), patience) {
    // Once the time is over, the handler runs even if the timer is destroyed first.
    timer_.async_wait([socket = socket_](boost::system::error_code error) {
      boost::system::error_code ignored;
      if (!error && *socket != nullptr) (*socket)->close(ignored);
    });
  }
  ~SocketDeadline() { *socket_ = nullptr; }
  SocketDeadline(const SocketDeadline&) = delete;
  SocketDeadline& operator=(const SocketDeadline&) = delete;

 private:
  std::shared_ptr<Socket*> socket_;
  boost::asio::steady_timer timer_;
};

}  // namespace reprise
