// What is counted of replayed WebSockets.

#include "proxy/replay/web_socket_replay.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>

#include "proxy/http/event.h"
#include "tests/proxy/replay/recorded_archive.h"
#include "tests/proxy/replay/written_log.h"

namespace reprise {
namespace {

/// A client that says nothing until it leaves.
class SilentClient final : public BodyReader {
 public:
  Task<Bytes> read() override {
    co_await left_.wait();
    co_return Bytes{};
  }
  bool finished() const override { return false; }
  HeaderList trailers() const override { return {}; }
  void leave() { left_.set(); }

 private:
  Event left_;
};

/// A WebSocket without messages, which its client ends.
class CountedWebSockets : public testing::Test {
 protected:
  CountedWebSockets() {
    exchange_.session = 1;
    exchange_.sequence = 1;
  }

  void open(SilentClient& client) {
    net::co_spawn(loop_, replay_.serve(exchange_, recorded_, head_, client, log_),
                  [](std::exception_ptr broken, const Result<void>& served) {
                    if (broken) std::rethrow_exception(broken);
                    EXPECT_TRUE(served);
                  });
    let_run();
  }
  void close(SilentClient& client) {
    client.leave();
    let_run();
  }
  /// Nothing here takes any time.
  void let_run() {
    loop_.restart();
    loop_.poll();
  }

  struct OneExchange : RecordedArchive {
    OneExchange() { add(exchange("GET", "/socket")); }
  };
  OneExchange archive_;
  WebSocketReplay replay_{archive_.reader()};
  Exchange exchange_ = RecordedArchive::exchange("GET", "/socket");
  ResponseHead recorded_{.status = 101};
  RequestHead head_{.method = "GET", .host = "a.test", .target = "/socket"};
  WrittenLog log_{std::chrono::steady_clock::now()};
  net::io_context loop_{1};
};

TEST_F(CountedWebSockets, HaveOneEndForEachThatWasOpened) {
  SilentClient client;
  open(client);
  EXPECT_EQ(replay_.report().opened, 1U);
  EXPECT_EQ(replay_.report().ended, 0U);
  close(client);
  EXPECT_EQ(replay_.report().opened, 1U);
  EXPECT_EQ(replay_.report().ended, 1U);
}

TEST_F(CountedWebSockets, HaveNoEndInTheReportAfterTheOneThatSawThemOpen) {
  SilentClient before;
  open(before);
  replay_.reset();
  SilentClient after;
  open(after);
  close(before);
  EXPECT_EQ(replay_.report().opened, 1U);
  EXPECT_EQ(replay_.report().ended, 0U);
  close(after);
  EXPECT_EQ(replay_.report().ended, 1U);
}

}  // namespace
}  // namespace reprise
