// Heads that are small on the wire and large or endless behind it (RFC 7541 section 7.2).

#include "proxy/http/h2_content.h"
#include "tests/proxy/http/h2_attack.h"

namespace reprise {
namespace {

/// A request whose fields have more than `size_bytes`, by little: one entry of the dynamic table,
/// named again and again, is a small block.
Fields bomb(std::size_t size_bytes) {
  auto fields = request_fields("/early");
  std::string const value(2000, 'b');
  for (std::size_t size = 0; size <= size_bytes; size += value.size()) {
    fields.emplace_back("x-bomb", value);
  }
  return fields;
}

/// An index far behind the tables.
const std::string kUndecodable = "\xff\xff\xff\x7f";

TEST_F(H2Attack, AHeadOverTheLimitIsRefusedAndTheConnectionGoesOn) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(FrameClient::long_head(1, client.block(bomb(kH2HeadBytesMax + 10'000))));
    co_await client.until(NGHTTP2_HEADERS, 1);
    EXPECT_EQ(client.field(":status"), "431");
    co_await client.send(client.head(3, request_fields("/early")));
    co_await client.until(NGHTTP2_HEADERS, 3);
    EXPECT_EQ(client.field(":status"), "200");
  });
}

/// What follows the field that is one too many is not decoded: it could not be.
TEST_F(H2Attack, AHeadThatUnfoldsToMuchMoreIsNotLookedAtAnyFurther) {
  play([this](FrameClient& client) -> awaitable<void> {
    auto const block = client.block(bomb(kH2UnfoldedBytesMax));
    EXPECT_LT(block.size(), 10'000U);
    begin_watch();
    co_await stuff(frame(NGHTTP2_HEADERS, kEnd | kWholeHead, 1, block + kUndecodable), 1);
    EXPECT_EQ(co_await verdict(client), "connection 11");
  });
  EXPECT_EQ(site.started, 0U);
  EXPECT_LT(grown_bytes(), kMiB);
}

TEST_F(H2Attack, TrailersThatUnfoldToMuchMoreAreNotLookedAtAnyFurther) {
  play([](FrameClient& client) -> awaitable<void> {
    auto fields = bomb(kH2UnfoldedBytesMax);
    fields.erase(fields.begin(), fields.begin() + 4);
    fields.push_back(fields.back());
    co_await client.send(client.head(1, request_fields("/wait", "POST"), 0));
    co_await client.send(
        frame(NGHTTP2_HEADERS, kEnd | kWholeHead, 1, client.block(fields) + kUndecodable));
    EXPECT_EQ(co_await verdict(client), "connection 11");
  });
}

/// Hundreds of heads in a batch of bytes that takes one read, each of them within the limit.
TEST_F(H2Attack, HeadsThatUnfoldToMuchLetOthersRunInBetween) {
  std::size_t turns = 0;
  play([&](FrameClient& client) -> awaitable<void> {
    std::string bombs;
    for (std::uint32_t id = 1; id < 200; id += 2) {
      bombs += client.head(id, bomb(kH2HeadBytesMax - 10'000));
    }
    EXPECT_LT(bombs.size(), 32'000U);
    co_await client.settle();
    auto const read_before = ends.server->bytes_read();
    co_await client.send(bombs);
    while (site.started == 0) {
      if (ends.server->bytes_read() > read_before) ++turns;
      co_await net::post(ends.client->socket().get_executor(), net::deferred);
    }
  });
  EXPECT_GE(turns, 100 * kH2HeadBytesMax / kMiB - 2);
}

/// Each of them within the limit, and all under way at a time.
TEST_F(H2Attack, HeadsThatUnfoldToTooMuchTogetherAreRefused) {
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0);
  play([this](FrameClient& client) -> awaitable<void> {
    auto fields = request_fields("/held");
    for (int i = 0; i < 100; ++i) fields.emplace_back("x-bomb", std::string(2000, 'b'));
    std::string bombs;
    for (std::uint32_t id = 1; id < 2 * options.concurrent_streams_max; id += 2) {
      bombs += FrameClient::long_head(id, client.block(fields));
    }
    EXPECT_LT(bombs.size(), 100'000U);
    begin_watch();
    co_await stuff(bombs, 1);
    EXPECT_EQ(co_await verdict(client), "stream 11");
    site.release();
    auto const last = 2 * options.concurrent_streams_max + 1;
    co_await client.send(client.head(last, request_fields("/early")));
    co_await client.until(NGHTTP2_HEADERS, last);
    EXPECT_EQ(client.field(":status"), "200");
  });
  EXPECT_LT(grown_bytes(), 12 * kMiB);  // of 51
  EXPECT_GE(site.started, 10U);
}

/// Not the largest head yet, and the rest of it never comes.
TEST_F(H2Attack, AHeadThatNeverEndsTakesLittleAndKeepsNoConnection) {
  play([this](FrameClient& client) -> awaitable<void> {
    auto const piece = std::string("\0\1x\x7f\xe1\x7c", 6) + std::string(16'096, 'v');
    auto text = frame(NGHTTP2_HEADERS, kEnd, 1, client.block(request_fields("/early")));
    for (int i = 0; i < 15; ++i) text += frame(NGHTTP2_CONTINUATION, 0, 1, piece);
    co_await client.settle();
    begin_watch();
    EXPECT_EQ(co_await stuff(text, 1), text.size());
    co_await let_run();
    EXPECT_TRUE(deadline.between_messages);
    EXPECT_LT(deadline.at, std::chrono::steady_clock::now() + options.idle_timeout);
  });
  EXPECT_EQ(site.started, 0U);
  EXPECT_LT(grown_bytes(), kMiB);
}

TEST_F(H2Attack, EndsAHeadThatGoesOnForEver) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(frame(NGHTTP2_HEADERS, kEnd, 1, client.block(request_fields("/early"))));
    for (int i = 0; i < 1000; ++i) co_await client.send(frame(NGHTTP2_CONTINUATION, 0, 1));
    EXPECT_EQ(co_await verdict(client), "connection 11");
  });
  EXPECT_EQ(site.started, 0U);
}

}  // namespace
}  // namespace reprise
