// Floods and bombs: answered within limits (RFC 9113 section 10.5).

#include <sys/socket.h>

#include <boost/asio/post.hpp>

#include "tests/proxy/http/h2_offence.h"

namespace reprise {
namespace {

constexpr std::uint8_t kEnd = FrameClient::kEnd;
constexpr std::uint8_t kWholeHead = FrameClient::kWholeHead;

TEST_F(H2ServerTest, RefusesAHeadThatIsTooLongAndGoesOn) {
  play([](FrameClient& client) -> awaitable<void> {
    auto fields = request_fields("/early");
    // One entry of the dynamic table, named again and again, is a small block and a large head.
    for (int i = 0; i < 8000; ++i) fields.emplace_back("x-bomb", std::string(2000, 'b'));
    auto const block = client.block(fields);
    EXPECT_LT(block.size(), 100'000U);
    co_await client.send(FrameClient::long_head(1, block));
    co_await client.until(NGHTTP2_HEADERS, 1);
    EXPECT_EQ(client.field(":status"), "431");
    co_await client.send(client.head(3, request_fields("/early")));
    co_await client.until(NGHTTP2_HEADERS, 3);
    EXPECT_EQ(client.field(":status"), "200");
  });
}

TEST_F(H2ServerTest, EndsAHeadThatGoesOnForEver) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(frame(NGHTTP2_HEADERS, kEnd, 1, client.block(request_fields("/early"))));
    for (int i = 0; i < 1000; ++i) co_await client.send(frame(NGHTTP2_CONTINUATION, 0, 1));
    EXPECT_EQ(co_await verdict(client), "connection 11");
  });
  EXPECT_EQ(site.started, 0U);
}

TEST_F(H2ServerTest, EndsRapidResets) {
  play([](FrameClient& client) -> awaitable<void> {
    std::string flood;
    for (std::uint32_t id = 1; id < 10'000; id += 2) {
      flood += client.head(id, request_fields("/wait")) +
               frame(NGHTTP2_RST_STREAM, 0, id, u32(NGHTTP2_CANCEL));
    }
    co_await client.send(flood);
    EXPECT_TRUE((co_await verdict(client)).starts_with("connection "));
  });
  EXPECT_LE(site.started, 1100U);
}

TEST_F(H2ServerTest, RunsNoMoreHandlersThanTwiceTheStreamsEvenIfTheyOutliveThem) {
  options.concurrent_streams_max = 4;
  play([](FrameClient& client) -> awaitable<void> {
    for (std::uint32_t id = 1; id < 100; id += 2) {
      co_await client.send(client.head(id, request_fields("/held")));
      co_await client.settle();
      co_await client.send(frame(NGHTTP2_RST_STREAM, 0, id, u32(NGHTTP2_CANCEL)));
    }
  });
  EXPECT_EQ(site.started, 8U);
}

/// Sends `text` again and again to a server whose answers nobody reads, until nothing goes any
/// more. Returns how much went.
awaitable<std::size_t> stuff(ByteStream& stream, const std::string& text) {
  constexpr std::size_t kTooMuchBytes = 32 << 20;
  std::size_t sent = 0;
  for (int idle_turns = 0; idle_turns < 1000 && sent < kTooMuchBytes;) {
    auto const at = sent % text.size();
    auto const count = ::send(stream.socket().native_handle(), text.data() + at, text.size() - at,
                              MSG_DONTWAIT | MSG_NOSIGNAL);
    idle_turns = count > 0 ? 0 : idle_turns + 1;
    if (count > 0) sent += static_cast<std::size_t>(count);
    co_await net::post(stream.socket().get_executor(), net::deferred);
  }
  co_return sent;
}

TEST_F(H2ServerTest, ReadsNoMoreWhileItsAnswersAreNotTaken) {
  ends.server->socket().set_option(net::socket_base::send_buffer_size(8192));
  ends.client->socket().set_option(net::socket_base::receive_buffer_size(8192));
  auto const part = [this](FrameClient& client) -> awaitable<void> {
    // Each is refused with a frame of its own; a client that has not acknowledged the limit on
    // streams may open more.
    std::string flood;
    for (std::uint32_t id = 1; id < 2'000'000; id += 2) {
      flood += frame(NGHTTP2_HEADERS, kEnd | kWholeHead, id, "\x82");
    }
    co_await client.send(FrameClient::preface());
    co_await client.settle();
    EXPECT_LT(co_await stuff(*ends.client, flood), flood.size());
  };
  play(part, false);
  EXPECT_LT(ends.server->bytes_read(), 1U << 20);
  EXPECT_EQ(site.started, 0U);
}

TEST_F(H2ServerTest, EndsAFloodOfPingsWhoseAnswersAreNotTaken) {
  ends.server->socket().set_option(net::socket_base::send_buffer_size(8192));
  ends.client->socket().set_option(net::socket_base::receive_buffer_size(8192));
  play([&](FrameClient& client) -> awaitable<void> {
    std::string flood;
    for (int i = 0; i < 100'000; ++i) flood += frame(NGHTTP2_PING, 0, 0, "12345678");
    co_await client.send(flood);
    EXPECT_EQ(co_await verdict(client), "connection 11");
  });
}

}  // namespace
}  // namespace reprise
