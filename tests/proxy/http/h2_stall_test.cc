// What a client leaves unfinished is ended, by a clock that the test turns (RFC 9113 section 10.5).

#include <boost/asio/post.hpp>

#include "tests/proxy/http/h2_offence.h"

namespace reprise {
namespace {

constexpr std::chrono::seconds kSecond{1};

class H2Stall : public H2ServerTest {
 protected:
  /// Lets this much time pass, twice: the first look only notes where everything is.
  void pass(std::chrono::seconds time) {
    deadline.on_sweep(now_);
    now_ += time;
    deadline.on_sweep(now_);
  }
  std::chrono::seconds patience() const { return options.stall_timeout; }

  /// The codes of the resets that came before now, by stream.
  static awaitable<std::map<std::uint32_t, std::uint32_t>> resets(FrameClient& client) {
    std::map<std::uint32_t, std::uint32_t> found;
    for (const Frame& seen : co_await client.settle()) {
      if (seen.type == NGHTTP2_RST_STREAM) found[seen.stream] = u32_at(seen.payload, 0);
    }
    co_return found;
  }
  using Resets = std::map<std::uint32_t, std::uint32_t>;

 private:
  std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
};

TEST_F(H2Stall, ResetsARequestWhoseContentStandsStill) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/echo", "POST"), 0) +
                         client.head(3, request_fields("/held")));
    co_await client.settle();
    pass(patience());
    EXPECT_EQ(co_await resets(client), Resets{});
    co_await client.send(FrameClient::data(1, "x"));
    co_await client.settle();
    pass(patience());
    EXPECT_EQ(co_await resets(client), Resets{});
    pass(patience() + kSecond);
    EXPECT_EQ(co_await resets(client), (Resets{{1, NGHTTP2_CANCEL}}));
    EXPECT_EQ(site.ended, 1U);
    // It is the handler who is waited for.
    site.release();
    co_await client.until(NGHTTP2_HEADERS, 3);
    EXPECT_EQ(client.field(":status"), "200");
  });
}

TEST_F(H2Stall, KeepsARequestThatItsHandlerDoesNotRead) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/slow", "POST"), 0));
    co_await client.settle();
    pass(10 * patience());
    EXPECT_EQ(co_await resets(client), Resets{});
    site.release();
    co_await client.settle();
    pass(patience() + kSecond);
    EXPECT_EQ(co_await resets(client), (Resets{{1, NGHTTP2_CANCEL}}));
  });
}

/// The object of a stream is used again, and its last read was cancelled.
TEST_F(H2Stall, KeepsAQuietResponseBehindARequestWhoseContentWasGivenUp) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/given-up", "POST"), 0));
    co_await client.settle();
    site.release();
    co_await client.until(NGHTTP2_RST_STREAM, 1);  // the answer is whole
    co_await client.send(client.head(3, request_fields("/held")));
    co_await client.settle();
    pass(patience() + kSecond);
    EXPECT_EQ(co_await resets(client), Resets{});
    site.release();
    co_await client.until(NGHTTP2_HEADERS, 3);
    EXPECT_EQ(client.field(":status"), "200");
  });
}

TEST_F(H2Stall, ResetsAResponseWhoseWindowStaysClosedWhileOthersMove) {
  std::string const large(300'000, 'l');
  site.responses["/large"] = std::make_unique<StoredResponse>(
      "GET", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of(large)});
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1);
  play([this](FrameClient& client) -> awaitable<void> {
    for (std::uint32_t id = 1; id <= 5; id += 2) {
      co_await client.send(client.head(id, request_fields(id == 1 ? "/download" : "/large")));
      co_await client.until(NGHTTP2_DATA, id);
    }
    pass(patience());
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 5, u32(1)));
    co_await client.until(NGHTTP2_DATA, 5);
    pass(kSecond);
    EXPECT_EQ(co_await resets(client), (Resets{{1, NGHTTP2_CANCEL}, {3, NGHTTP2_CANCEL}}));
  });
}

/// As of a paused video: what stands still is the stream, not the connection.
TEST_F(H2Stall, KeepsTheConnectionOfAResponseWhoseWindowStaysClosed) {
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1);
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/download")));
    co_await client.until(NGHTTP2_DATA, 1);
    co_await client.send(client.head(3, request_fields("/held")) +
                         frame(NGHTTP2_WINDOW_UPDATE, 0, 3, u32(1000)));
    co_await client.settle();
    EXPECT_FALSE(deadline.waiting().has_value());
    pass(patience() + kSecond);
    EXPECT_FALSE(deadline.waiting().has_value());
    EXPECT_EQ(co_await resets(client), (Resets{{1, NGHTTP2_CANCEL}}));
    site.release();
    co_await client.until(NGHTTP2_HEADERS, 3);
    EXPECT_EQ(client.field(":status"), "200");
    EXPECT_EQ((co_await client.until(NGHTTP2_DATA, 3)).payload, "released");
  });
}

/// Others may be more urgent, or there is one client for all who takes nothing: that is told by
/// deadline.waiting().
TEST_F(H2Stall, KeepsAResponseThatWaitsForTheConnectionsWindow) {
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20);
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/download")));
    for (std::size_t received = 0; received < 65'535;) {
      auto const found = co_await client.next();
      if (found->type == NGHTTP2_DATA) received += found->payload.size();
    }
    pass(10 * patience());
    EXPECT_EQ(co_await resets(client), Resets{});
    EXPECT_EQ(deadline.waiting(), 65'535U);
  });
}

TEST_F(H2Stall, KeepsAWebSocketThatIsSilent) {
  info.takes_web_sockets = true;
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1,
                                     {{":method", "CONNECT"},
                                      {":protocol", "websocket"},
                                      {":scheme", "https"},
                                      {":authority", "a.test"},
                                      {":path", "/socket"}},
                                     0));
    co_await client.until(NGHTTP2_HEADERS, 1);
    pass(10 * patience());
    EXPECT_EQ(co_await resets(client), Resets{});
    co_await client.send(FrameClient::data(1, "heard", kEnd));
    EXPECT_EQ((co_await client.until(NGHTTP2_DATA, 1)).payload, "heard");
  });
}

/// Of a head on stream 3, the last bytes never come.
class H2HalfHead : public H2Stall, public testing::WithParamInterface<Offence> {};

TEST_P(H2HalfHead, EndsItsConnectionWhileOthersRun) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/held")));
    co_await client.settle();
    EXPECT_EQ(deadline.at, std::chrono::steady_clock::time_point::max());
    auto const head = GetParam().bytes(client);
    auto const read_before = ends.server->bytes_read();
    co_await client.send(head);
    while (ends.server->bytes_read() < read_before + head.size()) {
      co_await net::post(ends.client->socket().get_executor(), net::deferred);
    }
    pass(options.head_timeout);
    pass(kSecond);
    EXPECT_EQ(co_await verdict(client), "connection " + std::to_string(GetParam().error));
  });
}

INSTANTIATE_TEST_SUITE_P(
    Heads, H2HalfHead,
    testing::Values(
        sends("NoContinuation", NGHTTP2_ENHANCE_YOUR_CALM, frame(NGHTTP2_HEADERS, kEnd, 3, "\x82")),
        sends("NoMoreContinuations", NGHTTP2_ENHANCE_YOUR_CALM,
              frame(NGHTTP2_HEADERS, kEnd, 3, "\x82") + frame(NGHTTP2_CONTINUATION, 0, 3, "\x87")),
        sends("HalfAFrame", NGHTTP2_ENHANCE_YOUR_CALM,
              frame(NGHTTP2_HEADERS, kEnd | kWholeHead, 3, "\x82\x87").substr(0, 10))),
    name_of);

TEST_F(H2Stall, PingsKeepNoConnection) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.settle();
    auto const until = deadline.at;
    EXPECT_LE(until, std::chrono::steady_clock::now() + options.idle_timeout);
    EXPECT_TRUE(deadline.idle_since.has_value());
    for (int i = 0; i < 10; ++i) co_await client.settle();
    EXPECT_EQ(deadline.at, until);
  });
}

}  // namespace
}  // namespace reprise
