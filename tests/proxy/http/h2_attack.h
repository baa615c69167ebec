#pragma once

// A client that attacks, and what it makes the process hold.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "tests/allocated_bytes.h"
#include "tests/proxy/http/h2_offence.h"

namespace reprise {

inline constexpr std::size_t kMiB = 1 << 20;

class H2Attack : public H2ServerTest {
 protected:
  /// The client takes little, and the server's socket holds little.
  void narrow() {
    ends.server->socket().set_option(net::socket_base::send_buffer_size(8192));
    ends.client->socket().set_option(net::socket_base::receive_buffer_size(8192));
  }
  void store(const std::string& path, std::size_t size_bytes) {
    bodies_.emplace_back(size_bytes, 'b');
    site.responses[path] = std::make_unique<StoredResponse>(
        "GET", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of(bodies_.back())});
  }

  /// From here on memory is looked at, whenever stuff() or look() does.
  void begin_watch() { base_bytes_ = allocated_bytes(); }
  void look() {
    auto const now = allocated_bytes();
    if (now > base_bytes_) grown_bytes_ = std::max(grown_bytes_, now - base_bytes_);
  }
  /// The most that was seen to be allocated beyond what was there in the beginning.
  std::size_t grown_bytes() const { return grown_bytes_; }

  /// Sends `text` to a server whose answers nobody reads, as often as it goes, until nothing goes
  /// any more. Returns how much went.
  awaitable<std::size_t> stuff(const std::string& text, std::size_t times = SIZE_MAX) {
    auto& socket = ends.client->socket();
    std::size_t sent = 0;
    for (int idle_turns = 0; idle_turns < 1000 && sent / text.size() < times;) {
      auto const at = sent % text.size();
      auto const count = ::send(socket.native_handle(), text.data() + at, text.size() - at,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
      idle_turns = count > 0 ? 0 : idle_turns + 1;
      if (count > 0) sent += static_cast<std::size_t>(count);
      co_await net::post(socket.get_executor(), net::deferred);
      look();
    }
    co_return sent;
  }
  /// Lets the server do what it can.
  awaitable<void> let_run() {
    for (int turns = 0; turns < 1000; ++turns) {
      co_await net::post(ends.client->socket().get_executor(), net::deferred);
      look();
    }
  }

 private:
  std::list<std::string> bodies_;
  std::size_t base_bytes_ = 0;
  std::size_t grown_bytes_ = 0;
};

}  // namespace reprise
