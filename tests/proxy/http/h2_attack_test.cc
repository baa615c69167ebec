// Floods and bombs: answered within limits, in bounded memory (RFC 9113 section 10.5).

#include <malloc.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "proxy/http/h2_content.h"
#include "tests/proxy/http/h2_offence.h"

#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#endif

namespace reprise {
namespace {

constexpr std::uint8_t kEnd = FrameClient::kEnd;
constexpr std::uint8_t kWholeHead = FrameClient::kWholeHead;
constexpr std::size_t kMiB = 1 << 20;

/// What is allocated in this process, nghttp2's and the test's own included.
std::size_t allocated_bytes() {
#if __has_feature(address_sanitizer)
  return __sanitizer_get_current_allocated_bytes();
#else
  auto const now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
#endif
}

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
        "GET", StoredResponse::Parts{.head = {.status = 200}, .body = as_bytes(bodies_.back())});
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

/// Many requests for `path`, from stream 1 on.
std::string requests(FrameClient& client, std::size_t count, const std::string& path) {
  std::string text;
  for (std::uint32_t id = 1; id < 2 * count; id += 2) {
    text += client.head(id, request_fields(path));
  }
  return text;
}

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

TEST_F(H2Attack, EndsRapidResets) {
  play([this](FrameClient& client) -> awaitable<void> {
    std::string flood;
    for (std::uint32_t id = 1; id < 10'000; id += 2) {
      flood += client.head(id, request_fields("/wait")) +
               frame(NGHTTP2_RST_STREAM, 0, id, u32(NGHTTP2_CANCEL));
    }
    begin_watch();
    co_await stuff(flood, 1);
    EXPECT_TRUE((co_await verdict(client)).starts_with("connection "));
  });
  EXPECT_LE(site.started, 1100U);
  EXPECT_LT(grown_bytes(), 2 * kMiB);
}

/// The other way round: what the client does makes the server reset its streams.
TEST_F(H2Attack, ResetsOfItsOwnLeaveNothingBehind) {
  play([this](FrameClient& client) -> awaitable<void> {
    std::uint32_t id = 1;
    auto const round = [&]() -> awaitable<void> {
      std::string flood;
      for (auto const last = id + 200; id < last; id += 2) {
        flood += client.head(id, request_fields("/wait", "POST"), 0) +
                 frame(NGHTTP2_WINDOW_UPDATE, 0, id, u32(0x7fffffff));
      }
      co_await client.send(flood);
      co_await client.settle();
    };
    for (int i = 0; i < 10; ++i) co_await round();
    begin_watch();
    for (int i = 0; i < 90; ++i) {
      co_await round();
      look();
    }
  });
  EXPECT_LT(grown_bytes(), kMiB / 4);
}

/// Closed streams are told from others for a while, and only so many.
TEST_F(H2Attack, AHundredThousandStreamsLeaveNothingBehind) {
  store("/stored", 0);
  play([this](FrameClient& client) -> awaitable<void> {
    std::uint32_t id = 1;
    for (int i = 0; i < 1000; ++i) {
      if (i <= 10) begin_watch();
      std::string text;
      for (auto const last = id + 200; id < last; id += 2) {
        text += client.head(id, request_fields("/stored"));
      }
      co_await client.send(text);
      co_await client.settle();
      look();
    }
  });
  EXPECT_LT(grown_bytes(), kMiB / 8);
}

TEST_F(H2Attack, RunsNoMoreHandlersThanTwiceTheStreamsEvenIfTheyOutliveThem) {
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

TEST_F(H2Attack, ReadsNoMoreWhileItsAnswersAreNotTaken) {
  narrow();
  auto const part = [this](FrameClient& client) -> awaitable<void> {
    // Each is refused with a frame of its own; a client that has not acknowledged the limit on
    // streams may open more.
    std::string flood;
    for (std::uint32_t id = 1; id < 2'000'000; id += 2) {
      flood += frame(NGHTTP2_HEADERS, kEnd | kWholeHead, id, "\x82");
    }
    co_await client.send(FrameClient::preface());
    co_await client.settle();
    begin_watch();
    EXPECT_LT(co_await stuff(flood, 1), flood.size());
  };
  play(part, false);
  EXPECT_LT(ends.server->bytes_read(), kMiB);
  EXPECT_EQ(site.started, 0U);
  EXPECT_LT(grown_bytes(), 8 * kMiB);  // thousands of frames that wait
}

TEST_F(H2Attack, EndsAFloodOfPingsWhoseAnswersAreNotTaken) {
  narrow();
  play([this](FrameClient& client) -> awaitable<void> {
    begin_watch();
    co_await stuff(frame(NGHTTP2_PING, 0, 0, "12345678"), 100'000);
    EXPECT_EQ(co_await verdict(client), "connection 11");
  });
  EXPECT_LT(grown_bytes(), 2 * kMiB);
}

TEST_F(H2Attack, EndsAFloodOfSettingsWhoseAnswersAreNotTaken) {
  narrow();
  play([this](FrameClient& client) -> awaitable<void> {
    begin_watch();
    co_await stuff(frame(NGHTTP2_SETTINGS, 0, 0, setting(0x4242, 1)), 100'000);
    EXPECT_EQ(co_await verdict(client), "connection 11");
  });
  EXPECT_LT(grown_bytes(), 2 * kMiB);
}

TEST_F(H2Attack, EndsAConnectionWithTooManySettingsInAFrame) {
  play([](FrameClient& client) -> awaitable<void> {
    std::string entries;
    for (int i = 0; i < 2000; ++i) entries += setting(0x4242, 1);
    co_await client.send(frame(NGHTTP2_SETTINGS, 0, 0, entries));
    EXPECT_EQ(co_await verdict(client), "connection 11");
  });
}

TEST_F(H2Attack, EndsAFloodOfPrioritiesForStreamsThatNeverBegin) {
  play([this](FrameClient& client) -> awaitable<void> {
    std::string flood;
    for (std::uint32_t id = 1; id < 200'000; id += 2) flood += frame(0x10, 0, 0, u32(id) + "u=1");
    begin_watch();
    co_await stuff(flood, 1);
    EXPECT_EQ(co_await verdict(client), "connection 1");
  });
  EXPECT_LT(grown_bytes(), kMiB);
}

/// Frames that are in order and cost little: nothing of them stays.
TEST_F(H2Attack, FramesWithoutEndLeaveNothingBehind) {
  std::string const round =
      frame(NGHTTP2_PRIORITY, 0, 99, u32(1) + "\x10") + frame(NGHTTP2_DATA, 0, 1) +
      frame(NGHTTP2_SETTINGS, 0, 0, setting(0x4242, 1)) + frame(NGHTTP2_PING, 0, 0, "12345678") +
      frame(0x42, 0, 0, "unknown") + frame(0x10, 0, 0, u32(1) + "u=2") +
      frame(NGHTTP2_GOAWAY, 0, 0, u32(0) + u32(0)) + frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1));
  play([&](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/wait", "POST"), 0));
    for (int i = 0; i < 20'000; ++i) {
      if (i == 1000) begin_watch();
      co_await client.send(round);
      if (i % 100 != 0) continue;
      co_await client.settle();
      look();
    }
  });
  EXPECT_LT(grown_bytes(), kMiB);
}

TEST_F(H2Attack, AClientThatOpensNoWindowMakesUsHoldNothing) {
  store("/large", 4 * kMiB);
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0);
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.settle();
    auto const asked = requests(client, options.concurrent_streams_max, "/large");
    begin_watch();
    co_await stuff(asked, 1);
    co_await let_run();
    EXPECT_EQ(deadline.waiting(), 0U);  // by which the connection is ended in the end
  });
  EXPECT_LT(grown_bytes(), 2 * kMiB);
}

TEST_F(H2Attack, AClientThatDoesNotReadMakesUsHoldNoMoreThanABatch) {
  narrow();
  store("/large", 4 * kMiB);
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0x7fffffff);
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.settle();
    auto const asked = frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(0x7fff0000)) +
                       requests(client, options.concurrent_streams_max, "/large");
    begin_watch();
    co_await stuff(asked, 1);
    co_await let_run();
  });
  EXPECT_LT(grown_bytes(), 2 * kMiB);
  EXPECT_LT(ends.server->bytes_written(), kMiB);
}

/// One byte at a time keeps the connection, and yet costs no more.
TEST_F(H2Attack, AClientThatTakesByteAfterByteMakesUsHoldNothing) {
  store("/large", 4 * kMiB);
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0);
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(requests(client, options.concurrent_streams_max, "/large"));
    co_await client.settle();
    begin_watch();
    for (std::uint32_t i = 0; i < 10'000; ++i) {
      auto const id = 1 + 2 * (i % options.concurrent_streams_max);
      co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, id, u32(1)));
      auto const taken = co_await client.until(NGHTTP2_DATA, id);
      if (i % 100 == 0) look();
      if (taken.payload.size() != 1) break;
    }
    EXPECT_EQ(deadline.waiting(), 10'000U);
  });
  EXPECT_LT(grown_bytes(), kMiB / 4);
}

}  // namespace
}  // namespace reprise
