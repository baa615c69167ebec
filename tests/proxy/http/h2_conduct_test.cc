// What the server must do by RFC 9113 sections 4 to 6, and what it must bear.

#include <algorithm>

#include "tests/proxy/http/h2_offence.h"

namespace reprise {
namespace {

// Sections 4.1, 5.1, 5.5, 6.3, 6.4, 6.8 and 7: what must be ignored or is in order.
class H2Borne : public H2Offence {};

TEST_P(H2Borne, IsBorne) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(GetParam().bytes(client) + client.head(99, request_fields("/early")));
    while (true) {
      auto const found = co_await client.next();
      if (!found) {
        ADD_FAILURE() << "the connection has ended";
        co_return;
      }
      EXPECT_NE(found->type, NGHTTP2_GOAWAY);
      EXPECT_NE(found->type, NGHTTP2_RST_STREAM);
      if (found->type == NGHTTP2_HEADERS && found->stream == 99) break;
    }
    EXPECT_EQ(client.field(":status"), "200");
  });
  EXPECT_LE(site.started, 2U);
}

INSTANTIATE_TEST_SUITE_P(
    Frames, H2Borne,
    testing::Values(
        sends("UnknownFrames", 0,
              frame(0x42, 0xff, 0, "unknown") + frame(0x42, 0, 1, "on an idle stream")),
        sends("UnknownSetting", 0, frame(NGHTTP2_SETTINGS, 0, 0, setting(0x4242, 1))),
        sends("UnknownFlags", 0, frame(NGHTTP2_PING, 0xfe, 0, "12345678")),
        sends("ReservedBitOfTheStream", 0, frame(NGHTTP2_PING, 0, 0x80000000, "12345678")),
        sends("ReservedBitOfAWindowUpdate", 0, frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(0x80000001))),
        sends("AnswerToNoPing", 0, frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "12345678")),
        sends("PriorityOfAnIdleStream", 0, frame(NGHTTP2_PRIORITY, 0, 7, u32(5) + "\x10")),
        sends("PriorityUpdateOfAnIdleStream", 0, frame(0x10, 0, 0, u32(7) + "u=1")),
        sends("UnknownErrorOfGoaway", 0, frame(NGHTTP2_GOAWAY, 0, 0, u32(0) + u32(0x4242) + "why")),
        after_head("Priority", 0, frame(NGHTTP2_PRIORITY, 0, 1, u32(3) + "\x10"), true),
        after_head("UnknownErrorOfReset", 0, frame(NGHTTP2_RST_STREAM, 0, 1, u32(0x4242)), true),
        after_head("LargestFrame", 0, FrameClient::data(1, std::string(16'384, 'x')), true),
        after_head("DataOfNothingButPadding", 0,
                   frame(NGHTTP2_DATA, kPadded, 1, "\x05" + std::string(5, '\0')), true),
        after_head("EmptyData", 0, FrameClient::data(1, ""), true),
        after_reset("WindowUpdateBehindAReset", 0, frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(1))),
        after_reset("ResetBehindAReset", 0, frame(NGHTTP2_RST_STREAM, 0, 1, u32(0))),
        after_reset("PriorityBehindAReset", 0, frame(NGHTTP2_PRIORITY, 0, 1, u32(3) + "\x10")),
        Offence{"PaddedHead", 0,
                [](FrameClient& client) {
                  return frame(
                      NGHTTP2_HEADERS, kEnd | kWholeHead | kPadded, 1,
                      "\x04" + client.block(request_fields("/early")) + std::string(4, '\0'));
                }},
        Offence{"HeadOfManyContinuations", 0,
                [](FrameClient& client) {
                  auto const block = client.block(request_fields("/early"));
                  auto text = frame(NGHTTP2_HEADERS, kEnd, 1);
                  for (std::size_t i = 0; i < 8; ++i) {
                    auto const size = i == 7 ? std::string::npos : 1;
                    text += frame(NGHTTP2_CONTINUATION, i == 7 ? kWholeHead : 0, 1,
                                  block.substr(i, size));
                  }
                  return text;
                }},
        Offence{"HeadThatDependsOnAnother", 0,
                [](FrameClient& client) {
                  return frame(NGHTTP2_HEADERS, kEnd | kWholeHead | NGHTTP2_FLAG_PRIORITY, 1,
                               u32(0x80000003) + "\xff" + client.block(request_fields("/early")));
                }}),
    name_of);

/// It has not heard yet that the server reset it.
TEST_F(H2ServerTest, IgnoresContentAndTrailersOnAStreamThatItReset) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/broken", "POST"), 0));
    co_await client.until(NGHTTP2_RST_STREAM, 1);
    co_await client.send(FrameClient::data(1, "content") + client.head(1, {{"x-sum", "1"}}) +
                         client.head(3, request_fields("/early")));
    co_await client.until(NGHTTP2_HEADERS, 3);
    EXPECT_EQ(client.field(":status"), "200");
  });
}

/// Section 3.4.
TEST_F(H2ServerTest, BeginsWithItsSettings) {
  play([](FrameClient& client) -> awaitable<void> {
    auto const first = co_await client.next();
    EXPECT_EQ(first->type, NGHTTP2_SETTINGS);
    EXPECT_EQ(first->flags, 0);
  });
}

/// Sections 6.5.3 and 6.7.
TEST_F(H2ServerTest, AnswersEverySettingsAndPingAndNoAnswer) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.settle();
    co_await client.send(frame(NGHTTP2_SETTINGS, 0, 0) +
                         frame(NGHTTP2_SETTINGS, 0, 0, setting(0x4242, 1)) +
                         frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "answered") +
                         frame(NGHTTP2_PING, 0, 0, "to reply"));
    std::size_t settings_answers = 0;
    std::vector<std::string> pings;
    for (const Frame& seen : co_await client.settle()) {
      EXPECT_EQ(seen.flags, NGHTTP2_FLAG_ACK);
      if (seen.type == NGHTTP2_SETTINGS) ++settings_answers;
      if (seen.type == NGHTTP2_PING) pings.push_back(seen.payload);
    }
    EXPECT_EQ(settings_answers, 2U);
    EXPECT_EQ(pings, std::vector<std::string>{"to reply"});
  });
}

/// The sizes of DATA on `stream` that came before now. The answer to a PING overtakes DATA, the
/// answer to a second one does not.
awaitable<std::vector<std::size_t>> data_sizes(FrameClient& client, std::uint32_t stream) {
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 2; ++i) {
    for (const Frame& seen : co_await client.settle()) {
      if (seen.type == NGHTTP2_DATA && seen.stream == stream) sizes.push_back(seen.payload.size());
    }
  }
  co_return sizes;
}
using Sizes = std::vector<std::size_t>;

/// Sections 6.9.1 and 6.9.2: of one setting twice the last counts, and a window may fall below 0.
TEST_F(H2ServerTest, SendsWhatTheWindowAllows) {
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1000) +
             setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 3);
  auto const initial_window = [](std::uint32_t bytes) {
    return frame(NGHTTP2_SETTINGS, 0, 0, setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bytes));
  };
  play([&](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/download")));
    EXPECT_EQ(co_await data_sizes(client, 1), Sizes{3});
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(1)));
    EXPECT_EQ(co_await data_sizes(client, 1), Sizes{1});
    co_await client.send(initial_window(13));
    EXPECT_EQ(co_await data_sizes(client, 1), Sizes{10});
    co_await client.send(initial_window(0));  // now -13
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(13)));
    EXPECT_EQ(co_await data_sizes(client, 1), Sizes{});
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(2)));
    EXPECT_EQ(co_await data_sizes(client, 1), Sizes{2});
  });
}

TEST_F(H2ServerTest, SendsWhatTheConnectionsWindowAllows) {
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20);
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/download")) +
                         client.head(3, request_fields("/download")));
    std::size_t received = 0;
    while (received < 65'535) {
      auto const found = co_await client.next();
      if (found->type == NGHTTP2_DATA) received += found->payload.size();
    }
    EXPECT_EQ(received, 65'535U);
    EXPECT_EQ(co_await data_sizes(client, 1), Sizes{});
    EXPECT_EQ(co_await data_sizes(client, 3), Sizes{});
  });
}

/// Section 6.9.2: only what goes over the limit is an error.
TEST_F(H2ServerTest, TakesTheLargestWindowThatSettingsCanGive) {
  play([](FrameClient& client) -> awaitable<void> {
    auto const window = [](std::uint32_t bytes) {
      return frame(NGHTTP2_SETTINGS, 0, 0, setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bytes));
    };
    co_await client.send(client.head(1, request_fields("/held")) + window(0x7fffffff) + window(0) +
                         frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(1)) + window(0x7ffffffe) +
                         window(1) + client.head(3, request_fields("/release")));
    co_await client.until(NGHTTP2_DATA, 1);
  });
}

/// Section 4.2.
TEST_F(H2ServerTest, SendsNoFrameOverTheClientsLimit) {
  std::string const body(200'000, 'b');
  site.responses["/large"] = std::make_unique<StoredResponse>(
      "GET", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of(body)});
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20);
  auto const largest = [](FrameClient& client, std::uint32_t stream) -> awaitable<std::size_t> {
    co_await client.send(client.head(stream, request_fields("/large")));
    std::size_t bytes = 0;
    while (auto const found = co_await client.next()) {
      bytes = std::max(bytes, found->payload.size());
      if (found->stream == stream && found->ends_stream()) break;
    }
    co_return bytes;
  };
  play([&](FrameClient& client) -> awaitable<void> {
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1 << 20)));
    EXPECT_EQ(co_await largest(client, 1), 16'384U - 9) << "with its head, a record of TLS";
    co_await client.send(
        frame(NGHTTP2_SETTINGS, 0, 0, setting(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 20'000)));
    EXPECT_LE(co_await largest(client, 3), 20'000U);
  });
}

/// RFC 7541 section 4.2: the decoder refuses a head that does not begin with the smaller size.
TEST_F(H2ServerTest, CompressesWithTheTableThatTheClientHas) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/interim")));
    while (!(co_await client.until(NGHTTP2_HEADERS, 1)).ends_stream()) continue;
    client.resize_table(0);
    co_await client.send(
        frame(NGHTTP2_SETTINGS, 0, 0, setting(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 0)));
    co_await client.settle();
    for (std::uint32_t id = 3; id <= 5; id += 2) {
      co_await client.send(client.head(id, request_fields("/interim")));
      co_await client.until(NGHTTP2_HEADERS, id);
      co_await client.until(NGHTTP2_HEADERS, id);
      EXPECT_EQ(client.last_head, (Fields{{":status", "200"}, {"x-kept", "yes"}}));
    }
  });
}

/// Section 5.1.2.
TEST_F(H2ServerTest, RefusesStreamsOverItsLimit) {
  options.concurrent_streams_max = 2;
  play(
      [this](FrameClient& client) -> awaitable<void> {
        // Before the client has acknowledged the limit they are refused, and may be tried again.
        co_await client.send(FrameClient::preface() + client.head(1, request_fields("/held")) +
                             client.head(3, request_fields("/held")) +
                             client.head(5, request_fields("/held")));
        EXPECT_EQ(co_await verdict(client), "stream 7");
        co_await client.send(frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0) +
                             client.head(7, request_fields("/held")));
        EXPECT_EQ(co_await verdict(client), "connection 1");
        EXPECT_EQ(site.started, 2U);
      },
      false);
}

/// Section 8.1.
TEST_F(H2ServerTest, EndsNoStreamWithAnInterimHead) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/interim", "HEAD")));
    EXPECT_FALSE((co_await client.until(NGHTTP2_HEADERS, 1)).ends_stream());
    EXPECT_TRUE((co_await client.until(NGHTTP2_HEADERS, 1)).ends_stream());
  });
}

}  // namespace
}  // namespace reprise
