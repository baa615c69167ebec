// What a client must not do (RFC 9113 sections 3 to 8), and how the server answers. Where the RFC
// asks for a stream error, a connection error is as good (section 5.4).

#include <sys/socket.h>

#include <boost/asio/post.hpp>

#include "tests/proxy/http/h2_site.h"

namespace reprise {
namespace {

constexpr std::uint8_t kEnd = FrameClient::kEnd;
constexpr std::uint8_t kWholeHead = FrameClient::kWholeHead;
constexpr std::uint8_t kPriorityUpdate = 0x10;

struct Offence {
  const char* name;
  std::uint32_t error;
  std::function<std::string(FrameClient&)> bytes;
  bool of_stream = false;  ///< only this stream may end by it
};

void PrintTo(const Offence& offence, std::ostream* out) {
  *out << offence.name;
}

class H2Offence : public H2ServerTest, public testing::WithParamInterface<Offence> {};

/// How the server answers on stream 1: the code of RST_STREAM or GOAWAY.
awaitable<std::string> verdict(FrameClient& client) {
  while (auto const found = co_await client.next()) {
    if (found->type == NGHTTP2_GOAWAY) {
      co_return "connection " + std::to_string(u32_at(found->payload, 4));
    }
    if (found->type == NGHTTP2_RST_STREAM) {
      co_return "stream " + std::to_string(u32_at(found->payload, 0));
    }
  }
  co_return "nothing";
}

TEST_P(H2Offence, IsAnsweredWithItsError) {
  auto const& offence = GetParam();
  play([&](FrameClient& client) -> awaitable<void> {
    co_await client.send(offence.bytes(client));
    EXPECT_EQ(co_await verdict(client),
              (offence.of_stream ? "stream " : "connection ") + std::to_string(offence.error));
    if (!offence.of_stream) {
      while (auto const found = co_await client.next()) {
        EXPECT_NE(found->type, NGHTTP2_HEADERS);
      }
      co_return;  // and the server has closed
    }
    co_await client.send(client.head(99, request_fields("/early")));
    co_await client.until(NGHTTP2_HEADERS, 99);
    EXPECT_EQ(client.field(":status"), "200");
  });
}

Offence sends(const char* name, std::uint32_t error, std::string bytes) {
  return {name, error, [bytes](FrameClient&) { return bytes; }};
}
/// On stream 1, whose request is open, sends more.
Offence after_head(const char* name, std::uint32_t error, std::string bytes, bool of_stream) {
  return {name, error,
          [bytes](FrameClient& client) {
            return client.head(1, request_fields("/wait", "POST"), 0) + bytes;
          },
          of_stream};
}
Offence asks(const char* name, Fields fields) {
  return {name, NGHTTP2_PROTOCOL_ERROR,
          [fields](FrameClient& client) { return client.head(1, fields); }, true};
}
Fields with(std::string name, std::string value) {
  auto fields = request_fields("/wait");
  fields.emplace_back(std::move(name), std::move(value));
  return fields;
}
Fields without(const std::string& name) {
  auto fields = request_fields("/wait");
  std::erase_if(fields, [&](auto const& field) { return field.first == name; });
  return fields;
}
std::string name_of(const testing::TestParamInfo<Offence>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Framing, H2Offence,
    testing::Values(
        sends("FrameOverTheLimit", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead, 1, std::string(16'385, 'x'))),
        after_head("DataFrameOverTheLimit", NGHTTP2_FRAME_SIZE_ERROR,
                   frame(NGHTTP2_DATA, 0, 1, std::string(16'385, 'x')), false),
        sends("UndecodableHead", NGHTTP2_COMPRESSION_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 1, "\xff\xff\xff\xff\xff\xff")),
        sends("DataOnIdleStream", NGHTTP2_PROTOCOL_ERROR, FrameClient::data(1, "x")),
        sends("DataOnConnection", NGHTTP2_PROTOCOL_ERROR, FrameClient::data(0, "x")),
        sends("HeadersOnConnection", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 0, "\x82")),
        sends("HeadersOnEvenStream", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 2, "\x82\x86\x84")),
        sends("ResetOfIdleStream", NGHTTP2_PROTOCOL_ERROR, frame(NGHTTP2_RST_STREAM, 0, 1, u32(0))),
        sends("ResetOnConnection", NGHTTP2_PROTOCOL_ERROR, frame(NGHTTP2_RST_STREAM, 0, 0, u32(0))),
        after_head("ResetOfOddLength", NGHTTP2_FRAME_SIZE_ERROR,
                   frame(NGHTTP2_RST_STREAM, 0, 1, "123"), false),
        sends("WindowUpdateOnIdleStream", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(1))),
        sends("WindowUpdateOfZero", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(0))),
        after_head("WindowUpdateOfZeroOnStream", NGHTTP2_PROTOCOL_ERROR,
                   frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(0)), false),
        sends("WindowUpdateOfOddLength", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_WINDOW_UPDATE, 0, 0, "123")),
        sends("WindowOverflow", NGHTTP2_FLOW_CONTROL_ERROR,
              frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(0x7fffffff))),
        after_head("WindowOverflowOnStream", NGHTTP2_FLOW_CONTROL_ERROR,
                   frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(0x7fffffff)), true),
        sends("SettingsOnStream", NGHTTP2_PROTOCOL_ERROR, frame(NGHTTP2_SETTINGS, 0, 1)),
        sends("SettingsOfOddLength", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_SETTINGS, 0, 0, "123")),
        sends("SettingsAckWithContent", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, setting(1, 1))),
        sends("SettingsPushNeitherOnNorOff", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_SETTINGS, 0, 0, setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 2))),
        sends("SettingsWindowTooLarge", NGHTTP2_FLOW_CONTROL_ERROR,
              frame(NGHTTP2_SETTINGS, 0, 0,
                    setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0x80000000))),
        sends("SettingsFrameSizeTooSmall", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_SETTINGS, 0, 0, setting(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16'383))),
        sends("SettingsFrameSizeTooLarge", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_SETTINGS, 0, 0, setting(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 1 << 24))),
        sends("PingOnStream", NGHTTP2_PROTOCOL_ERROR, frame(NGHTTP2_PING, 0, 1, "12345678")),
        sends("PingOfOddLength", NGHTTP2_FRAME_SIZE_ERROR, frame(NGHTTP2_PING, 0, 0, "1234567")),
        sends("GoawayOnStream", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_GOAWAY, 0, 1, u32(0) + u32(0))),
        sends("PushPromise", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_PUSH_PROMISE, kWholeHead, 1, u32(2) + "\x82")),
        sends("ContinuationOfNothing", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_CONTINUATION, kWholeHead, 1, "\x82")),
        sends("HeadInterruptedByData", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kEnd, 1, "\x82") + FrameClient::data(1, "x")),
        sends("HeadInterruptedByAnother", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kEnd, 1, "\x82") +
                  frame(NGHTTP2_HEADERS, kEnd | kWholeHead, 3, "\x82")),
        sends("HeadContinuedOnAnotherStream", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kEnd, 1, "\x82") +
                  frame(NGHTTP2_CONTINUATION, kWholeHead, 3, "\x86")),
        sends("PaddingLongerThanTheFrame", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kEnd | kWholeHead | NGHTTP2_FLAG_PADDED, 1, "\x09\x82")),
        sends("PriorityUpdateOnStream", NGHTTP2_PROTOCOL_ERROR,
              frame(kPriorityUpdate, 0, 1, u32(1) + "u=1"))),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Streams, H2Offence,
    testing::Values(Offence{"DataBehindTheEnd", NGHTTP2_STREAM_CLOSED,
                            [](FrameClient& client) {
                              return client.head(1, request_fields("/wait")) +
                                     FrameClient::data(1, "x");
                            }},
                    Offence{"HeadBehindTheEnd", NGHTTP2_STREAM_CLOSED,
                            [](FrameClient& client) {
                              return client.head(1, request_fields("/wait")) +
                                     client.head(1, {{"x", "y"}});
                            }},
                    Offence{"TrailersThatDoNotEnd", NGHTTP2_PROTOCOL_ERROR,
                            [](FrameClient& client) {
                              return client.head(1, request_fields("/wait", "POST"), 0) +
                                     client.head(1, {{"x", "y"}}, 0);
                            },
                            true},
                    Offence{"TrailersWithPseudoFields", NGHTTP2_PROTOCOL_ERROR,
                            [](FrameClient& client) {
                              return client.head(1, request_fields("/wait", "POST"), 0) +
                                     client.head(1, {{":path", "/"}});
                            },
                            true},
                    Offence{"LessContentThanItsLength", NGHTTP2_PROTOCOL_ERROR,
                            [](FrameClient& client) {
                              return client.head(1, with("content-length", "3"), 0) +
                                     FrameClient::data(1, "ab", kEnd);
                            },
                            true},
                    Offence{"MoreContentThanItsLength", NGHTTP2_PROTOCOL_ERROR,
                            [](FrameClient& client) {
                              return client.head(1, with("content-length", "3"), 0) +
                                     FrameClient::data(1, "abcd", kEnd);
                            },
                            true}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Requests, H2Offence,
    testing::Values(asks("NoMethod", without(":method")), asks("NoScheme", without(":scheme")),
                    asks("NoPath", without(":path")), asks("NoAuthority", without(":authority")),
                    asks("EmptyPath", request_fields("")),
                    asks("RelativePath", request_fields("x")),
                    asks("BadAuthority", {{":method", "GET"},
                                          {":scheme", "https"},
                                          {":authority", "a.test:99999"},
                                          {":path", "/"}}),
                    asks("MethodTwice", {{":method", "GET"},
                                         {":method", "GET"},
                                         {":scheme", "https"},
                                         {":authority", "a.test"},
                                         {":path", "/"}}),
                    asks("PseudoFieldBehindAnother", with(":unknown", "x")),
                    asks("PseudoFieldOfResponses", with(":status", "200")),
                    asks("PseudoFieldBehindFields", {{":method", "GET"},
                                                     {":scheme", "https"},
                                                     {":authority", "a.test"},
                                                     {"accept", "x"},
                                                     {":path", "/"}}),
                    asks("UpperCaseName", with("x-Upper", "1")),
                    asks("Connection", with("connection", "close")),
                    asks("KeepAlive", with("keep-alive", "1")),
                    asks("ProxyConnection", with("proxy-connection", "close")),
                    asks("TransferEncoding", with("transfer-encoding", "chunked")),
                    asks("Upgrade", with("upgrade", "h2c")), asks("Te", with("te", "gzip")),
                    asks("Connect", {{":method", "CONNECT"}, {":authority", "a.test:443"}})),
    name_of);

TEST_F(H2ServerTest, RefusesWhatIsNoPreface) {
  play(
      [](FrameClient& client) -> awaitable<void> {
        co_await client.send("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
        EXPECT_EQ(co_await verdict(client), "connection 1");
        EXPECT_FALSE((co_await client.next()).has_value());
      },
      false);
}

TEST_F(H2ServerTest, RefusesAPrefaceWithoutSettings) {
  play(
      [](FrameClient& client) -> awaitable<void> {
        co_await client.send(NGHTTP2_CLIENT_MAGIC + client.head(1, request_fields("/early")));
        EXPECT_EQ(co_await verdict(client), "connection 1");
      },
      false);
}

TEST_F(H2ServerTest, IgnoresWhatItDoesNotKnow) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(
        frame(0x42, 0xff, 0, "unknown") + frame(NGHTTP2_SETTINGS, 0, 0, setting(0x4242, 1)) +
        client.head(1, request_fields("/early")) + frame(NGHTTP2_PRIORITY, 0, 1, u32(1) + "\x10"));
    co_await client.until(NGHTTP2_HEADERS, 1);
    EXPECT_EQ(client.field(":status"), "200");
  });
}

TEST_F(H2ServerTest, EndsAConnectionThatComesBackToAStreamItPassedOver) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(5, request_fields("/wait")) +
                         client.head(3, request_fields("/wait")));
    EXPECT_EQ(co_await verdict(client), "connection 1");
    EXPECT_EQ(site.started, 1U);
  });
}

/// Its trailers may have been on their way when the server reset it.
TEST_F(H2ServerTest, IgnoresAHeadOnAStreamThatItReset) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/broken", "POST"), 0));
    co_await client.until(NGHTTP2_RST_STREAM, 1);
    co_await client.send(client.head(1, {{"x-sum", "1"}}) +
                         client.head(3, request_fields("/early")));
    co_await client.until(NGHTTP2_HEADERS, 3);
    EXPECT_EQ(client.field(":status"), "200");
  });
}

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
