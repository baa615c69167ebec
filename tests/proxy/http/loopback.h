#pragma once

// Two ends of a TCP connection on loopback and an io_context that runs both to their end.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "proxy/stream/socket_stream.h"

namespace reprise {

struct Loopback {
  Loopback() {
    tcp::acceptor acceptor(context, {net::ip::address_v4::loopback(), 0});
    tcp::socket near(context);
    near.connect(acceptor.local_endpoint());
    client = std::make_unique<TcpStream>(std::move(near));
    server = std::make_unique<TcpStream>(acceptor.accept());
  }

  template <class Coroutine>
  void spawn(Coroutine&& coroutine) {
    net::co_spawn(context, std::forward<Coroutine>(coroutine), [](std::exception_ptr broken) {
      if (broken) std::rethrow_exception(broken);
    });
  }
  /// Runs until nothing is left to do. A test that hangs fails here.
  void run() {
    context.run_for(std::chrono::seconds(120));
    ASSERT_TRUE(context.stopped()) << "still waiting for something";
  }

  /// Reads `stream` to its end.
  static awaitable<std::string> read_all(ByteStream& stream) {
    std::string all;
    std::array<std::byte, 4096> buffer;
    while (true) {
      auto const count = co_await stream.read_some(buffer);
      if (!count || *count == 0) co_return all;
      all += text_of(Bytes(buffer).first(*count));
    }
  }

  net::io_context context{1};
  std::unique_ptr<TcpStream> client;
  std::unique_ptr<TcpStream> server;
};

}  // namespace reprise
