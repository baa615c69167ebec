// How a connection ends when the server does (RFC 9113 section 6.8).

#include "tests/proxy/http/h2_site.h"

namespace reprise {
namespace {

constexpr std::uint32_t kNoStreamYet = 0x7fffffff;

class H2Ending : public H2ServerTest {
 protected:
  void end() {
    deadline.ending = true;
    if (deadline.on_ending) deadline.on_ending();
  }
};

/// The last stream of a GOAWAY without error.
std::uint32_t last_stream(const Frame& goodbye) {
  EXPECT_EQ(u32_at(goodbye.payload, 4), NGHTTP2_NO_ERROR);
  return u32_at(goodbye.payload, 0);
}

/// Reads to the end of a stream; what it carried.
awaitable<std::string> whole(FrameClient& client, std::uint32_t stream) {
  std::string text;
  while (true) {
    auto const found = co_await client.until(NGHTTP2_DATA, stream);
    text += found.payload;
    if (found.ends_stream() || testing::Test::HasFailure()) co_return text;
  }
}

TEST_F(H2Ending, SaysGoodbyeAtOnceWhenNothingRuns) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/early")));
    co_await whole(client, 1);
    end();
    EXPECT_EQ(last_stream(co_await client.until(NGHTTP2_GOAWAY, 0)), 1U);
    EXPECT_FALSE((co_await client.next()).has_value());
  });
}

TEST_F(H2Ending, OfAServerThatEndsAlreadyComesAtOnce) {
  deadline.ending = true;
  play([](FrameClient& client) -> awaitable<void> {
    EXPECT_EQ(last_stream(co_await client.until(NGHTTP2_GOAWAY, 0)), 0U);
    EXPECT_FALSE((co_await client.next()).has_value());
  });
}

TEST_F(H2Ending, FinishesWhatRunsAndWhatCrossedTheNotice) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/held")));
    co_await client.settle();
    end();
    EXPECT_EQ(last_stream(co_await client.until(NGHTTP2_GOAWAY, 0)), kNoStreamYet);
    auto const ping = co_await client.until(NGHTTP2_PING, 0);
    co_await client.send(client.head(3, request_fields("/early")));
    EXPECT_EQ(co_await whole(client, 3), "early");
    co_await client.send(frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, ping.payload));
    EXPECT_EQ(last_stream(co_await client.until(NGHTTP2_GOAWAY, 0)), 3U);
    co_await client.send(client.head(5, request_fields("/early")));
    co_await client.settle();
    EXPECT_EQ(site.started, 2U);
    site.release();
    EXPECT_EQ(co_await whole(client, 1), "released");
    EXPECT_FALSE((co_await client.next()).has_value());
  });
}

TEST_F(H2Ending, DoesNotWaitForAClientThatDoesNotAnswer) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/held")));
    co_await client.settle();
    end();
    site.release();
    co_await whole(client, 1);
    EXPECT_TRUE(deadline.between_messages);
    EXPECT_LE(deadline.at, std::chrono::steady_clock::now() + std::chrono::seconds(1));
  });
}

}  // namespace
}  // namespace reprise
