#include "tests/pageload/browser/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace reprise {

LoopbackServer::LoopbackServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, name, size) != 0 || ::listen(listener_, 128) != 0 ||
      ::getsockname(listener_, name, &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

LoopbackServer::~LoopbackServer() {
  ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    std::lock_guard const lock(mutex_);
    for (int const connection : connections_) ::shutdown(connection, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  for (int const connection : connections_) ::close(connection);
  ::close(listener_);
}

std::string LoopbackServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::map<std::string, int> LoopbackServer::seen() const {
  std::lock_guard const lock(mutex_);
  return seen_;
}

void LoopbackServer::accept_all() {
  while (!ending_) {
    int const connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    std::lock_guard const lock(mutex_);
    connections_.push_back(connection);
    threads_.emplace_back([this, connection] { serve(connection); });
  }
}

void LoopbackServer::serve(int connection) {
  std::string text;
  char bytes[65536];
  auto const read_more = [&] {
    auto const got = ::recv(connection, bytes, sizeof bytes, 0);
    if (got > 0) text.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  };
  while (text.find("\r\n\r\n") == std::string::npos) {
    if (!read_more()) return;
  }
  auto const head_bytes = text.find("\r\n\r\n") + 4;
  auto const length_at = text.find("Content-Length: ");
  std::size_t const body_bytes =
      length_at < head_bytes ? std::strtoul(text.c_str() + length_at + 16, nullptr, 10) : 0;
  while (text.size() < head_bytes + body_bytes) {
    if (!read_more()) return;
  }
  auto const space = text.find(' ');
  Request const request{.method = text.substr(0, space),
                        .path = text.substr(space + 1, text.find(' ', space + 1) - space - 1),
                        .body = text.substr(head_bytes, body_bytes)};
  {
    std::lock_guard const lock(mutex_);
    ++seen_[request.method + " " + request.path];
  }
  std::string const response = handler_(request);
  for (std::string_view rest = response; !rest.empty();) {
    auto const sent = ::send(connection, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  if (response.empty()) {
    while (read_more()) {
    }
  }
  if (response.find("Connection: close") != std::string::npos) ::shutdown(connection, SHUT_WR);
}

std::string http_response(const std::string& type, const std::string& body,
                          const std::string& status, const std::string& headers) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" +
         headers + "\r\n" + body;
}

}  // namespace reprise
