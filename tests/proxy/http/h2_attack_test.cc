// Floods: answered within limits, in bounded memory (RFC 9113 section 10.5).

#include "tests/proxy/http/h2_attack.h"

namespace reprise {
namespace {

/// Many requests for `path`, from stream 1 on.
std::string requests(FrameClient& client, std::size_t count, const std::string& path) {
  std::string text;
  for (std::uint32_t id = 1; id < 2 * count; id += 2) {
    text += client.head(id, request_fields(path));
  }
  return text;
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
    // In the end each is reset.
    auto const now = std::chrono::steady_clock::now();
    deadline.on_sweep(now);
    deadline.on_sweep(now + options.stall_timeout + std::chrono::seconds(1));
    co_await client.until(NGHTTP2_RST_STREAM, 1);
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
    std::size_t taken_bytes = 0;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
      auto const id = 1 + 2 * (i % options.concurrent_streams_max);
      co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, id, u32(1)));
      auto const taken = co_await client.until(NGHTTP2_DATA, id);
      if (i % 100 == 0) look();
      taken_bytes += taken.payload.size();
      if (taken.payload.size() != 1) break;
    }
    EXPECT_EQ(taken_bytes, 10'000U);
  });
  EXPECT_LT(grown_bytes(), kMiB / 4);
}

}  // namespace
}  // namespace reprise
