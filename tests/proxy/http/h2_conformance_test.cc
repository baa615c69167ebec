// What a client must not do in frames and streams (RFC 9113 sections 3 to 6), and how the server
// answers. Where the RFC asks for a stream error, a connection error is as good (section 5.4). What
// it must not do in a request is in h2_message_test.cc.

#include "tests/proxy/http/h2_offence.h"

namespace reprise {
namespace {

constexpr std::uint8_t kPriority = NGHTTP2_FLAG_PRIORITY;
constexpr std::uint8_t kUnknownType = 0x42;

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

std::string settings_of(std::uint16_t id, std::uint32_t value) {
  return frame(NGHTTP2_SETTINGS, 0, 0, setting(id, value));
}
/// The first frame of a head that is not finished.
std::string begun_head(std::uint32_t id = 1) {
  return frame(NGHTTP2_HEADERS, kEnd, id, "\x82");
}

// Section 4.2: sizes of frames.
INSTANTIATE_TEST_SUITE_P(
    FrameSize, H2Offence,
    testing::Values(
        sends("HeadersOverTheLimit", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead, 1, std::string(16'385, 'x'))),
        after_head("DataOverTheLimit", NGHTTP2_FRAME_SIZE_ERROR,
                   frame(NGHTTP2_DATA, 0, 1, std::string(16'385, 'x')), false),
        sends("ContinuationOverTheLimit", NGHTTP2_FRAME_SIZE_ERROR,
              begun_head() + frame(NGHTTP2_CONTINUATION, kWholeHead, 1, std::string(16'385, 'x'))),
        sends("SettingsOverTheLimit", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_SETTINGS, 0, 0, std::string(16'386, 'x'))),
        sends("UnknownFrameOverTheLimit", NGHTTP2_FRAME_SIZE_ERROR,
              frame(kUnknownType, 0, 0, std::string(16'385, 'x'))),
        sends("HeadersTooShortForTheirPriority", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd | kPriority, 1, "123")),
        sends("PriorityOfOddLength", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_PRIORITY, 0, 1, "1234")),
        after_head("ResetTooShort", NGHTTP2_FRAME_SIZE_ERROR,
                   frame(NGHTTP2_RST_STREAM, 0, 1, "123"), false),
        after_head("ResetTooLong", NGHTTP2_FRAME_SIZE_ERROR,
                   frame(NGHTTP2_RST_STREAM, 0, 1, "12345"), false),
        sends("SettingsOfOddLength", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_SETTINGS, 0, 0, "123")),
        sends("SettingsAckWithContent", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, setting(1, 1))),
        sends("PingTooShort", NGHTTP2_FRAME_SIZE_ERROR, frame(NGHTTP2_PING, 0, 0, "1234567")),
        sends("PingTooLong", NGHTTP2_FRAME_SIZE_ERROR, frame(NGHTTP2_PING, 0, 0, "123456789")),
        sends("GoawayTooShort", NGHTTP2_FRAME_SIZE_ERROR, frame(NGHTTP2_GOAWAY, 0, 0, u32(0))),
        sends("WindowUpdateTooShort", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_WINDOW_UPDATE, 0, 0, "123")),
        sends("WindowUpdateTooLong", NGHTTP2_FRAME_SIZE_ERROR,
              frame(NGHTTP2_WINDOW_UPDATE, 0, 0, "12345")),
        sends("PriorityUpdateTooShort", NGHTTP2_FRAME_SIZE_ERROR,
              frame(kPriorityUpdate, 0, 0, "123"))),
    name_of);

// Sections 4.3 and 6.10: compression, and heads in several frames.
INSTANTIATE_TEST_SUITE_P(
    Heads, H2Offence,
    testing::Values(
        sends("Undecodable", NGHTTP2_COMPRESSION_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 1, "\xff\xff\xff\xff\xff\xff")),
        sends("CutShort", NGHTTP2_COMPRESSION_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 1, "\x82\x40\x05x")),
        sends("TableOverItsLimit", NGHTTP2_COMPRESSION_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 1, "\x3f\xe2\x1f\x82")),  // 4097
        sends("TableResizedBehindFields", NGHTTP2_COMPRESSION_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 1, "\x82\x20")),
        after_head("UndecodableTrailers", NGHTTP2_COMPRESSION_ERROR,
                   frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 1, "\xff\xff\xff\xff\xff\xff"), false),
        sends("InterruptedByData", NGHTTP2_PROTOCOL_ERROR,
              begun_head() + FrameClient::data(1, "x")),
        sends("InterruptedByAnother", NGHTTP2_PROTOCOL_ERROR,
              begun_head() + frame(NGHTTP2_HEADERS, kEnd | kWholeHead, 3, "\x82")),
        sends("InterruptedByItsOwnHeaders", NGHTTP2_PROTOCOL_ERROR,
              begun_head() + frame(NGHTTP2_HEADERS, kEnd | kWholeHead, 1, "\x86")),
        sends("InterruptedByPriority", NGHTTP2_PROTOCOL_ERROR,
              begun_head() + frame(NGHTTP2_PRIORITY, 0, 1, u32(0) + "\x10")),
        sends("InterruptedByPing", NGHTTP2_PROTOCOL_ERROR,
              begun_head() + frame(NGHTTP2_PING, 0, 0, "12345678")),
        sends("InterruptedByAnUnknownFrame", NGHTTP2_PROTOCOL_ERROR,
              begun_head() + frame(kUnknownType, 0, 0, "x")),
        sends("ContinuedOnAnotherStream", NGHTTP2_PROTOCOL_ERROR,
              begun_head() + frame(NGHTTP2_CONTINUATION, kWholeHead, 3, "\x86")),
        sends("ContinuedOnTheConnection", NGHTTP2_PROTOCOL_ERROR,
              begun_head() + frame(NGHTTP2_CONTINUATION, kWholeHead, 0, "\x86")),
        sends("ContinuationOfNothing", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_CONTINUATION, kWholeHead, 1, "\x82")),
        after_head("ContinuationOfAWholeHead", NGHTTP2_PROTOCOL_ERROR,
                   frame(NGHTTP2_CONTINUATION, kWholeHead, 1, "\x82"), false),
        after_head("ContinuationBehindData", NGHTTP2_PROTOCOL_ERROR,
                   FrameClient::data(1, "x") + frame(NGHTTP2_CONTINUATION, kWholeHead, 1, "\x82"),
                   false),
        Offence{"ContinuationOfAWholeContinuation", NGHTTP2_PROTOCOL_ERROR,
                [](FrameClient& client) {
                  auto const block = client.block(request_fields("/wait", "POST"));
                  return frame(NGHTTP2_HEADERS, 0, 1, block) +
                         frame(NGHTTP2_CONTINUATION, kWholeHead, 1) +
                         frame(NGHTTP2_CONTINUATION, kWholeHead, 1);
                }}),
    name_of);

// Section 5.1: states of streams and their numbers.
INSTANTIATE_TEST_SUITE_P(
    States, H2Offence,
    testing::Values(
        sends("DataOnIdle", NGHTTP2_PROTOCOL_ERROR, FrameClient::data(1, "x")),
        sends("ResetOfIdle", NGHTTP2_PROTOCOL_ERROR, frame(NGHTTP2_RST_STREAM, 0, 1, u32(0))),
        sends("WindowUpdateOnIdle", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(1))),
        sends("ContinuationOnIdle", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_CONTINUATION, kWholeHead | kEnd, 1, "\x82")),
        sends("HeadersOnEven", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 2, "\x82\x86\x84")),
        sends("DataOnEven", NGHTTP2_PROTOCOL_ERROR, FrameClient::data(2, "x")),
        sends("WindowUpdateOnEven", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_WINDOW_UPDATE, 0, 2, u32(1))),
        after_end("DataBehindTheEnd", NGHTTP2_STREAM_CLOSED, FrameClient::data(1, "x")),
        after_end("EmptyDataBehindTheEnd", NGHTTP2_STREAM_CLOSED, FrameClient::data(1, "", kEnd)),
        after_end("ContinuationBehindTheEnd", NGHTTP2_PROTOCOL_ERROR,
                  frame(NGHTTP2_CONTINUATION, kWholeHead, 1, "\x82")),
        after_reset("DataBehindAReset", NGHTTP2_STREAM_CLOSED, FrameClient::data(1, "x")),
        after_reset("ContinuationBehindAReset", NGHTTP2_PROTOCOL_ERROR,
                    frame(NGHTTP2_CONTINUATION, kWholeHead, 1, "\x82")),
        Offence{"HeadBehindAReset", NGHTTP2_STREAM_CLOSED,
                [](FrameClient& client) {
                  return client.head(1, request_fields("/wait"), 0) +
                         frame(NGHTTP2_RST_STREAM, 0, 1, u32(NGHTTP2_CANCEL)) +
                         client.head(1, request_fields("/wait"));
                }},
        Offence{"HeadBehindTheEnd", NGHTTP2_STREAM_CLOSED,
                [](FrameClient& client) {
                  return client.head(1, request_fields("/wait")) + client.head(1, {{"x", "y"}});
                }}),
    name_of);

/// Both directions of stream 1 have ended, and the client knows it.
class H2Closed : public H2Offence {};

TEST_P(H2Closed, TakesNoMore) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/early")));
    while (!(co_await client.until(NGHTTP2_DATA, 1)).ends_stream()) continue;
    co_await client.send(GetParam().bytes(client));
    EXPECT_EQ(co_await verdict(client), "connection " + std::to_string(GetParam().error));
    EXPECT_EQ(site.started, 1U);
  });
}

INSTANTIATE_TEST_SUITE_P(
    States, H2Closed,
    testing::Values(sends("Data", NGHTTP2_STREAM_CLOSED, FrameClient::data(1, "x")),
                    sends("TheEndAgain", NGHTTP2_STREAM_CLOSED, FrameClient::data(1, "", kEnd)),
                    Offence{"Headers", NGHTTP2_STREAM_CLOSED,
                            [](FrameClient& client) {
                              return client.head(1, request_fields("/early"));
                            }},
                    sends("Continuation", NGHTTP2_PROTOCOL_ERROR,
                          frame(NGHTTP2_CONTINUATION, kWholeHead, 1, "\x82"))),
    name_of);

/// What is late on its way (section 5.1).
TEST_F(H2ServerTest, TakesWindowUpdatesResetsAndPrioritiesOfAClosedStream) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/early")));
    while (!(co_await client.until(NGHTTP2_DATA, 1)).ends_stream()) continue;
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(1)) +
                         frame(NGHTTP2_PRIORITY, 0, 1, u32(0) + "\x10") +
                         frame(NGHTTP2_RST_STREAM, 0, 1, u32(0)) +
                         client.head(3, request_fields("/early")));
    co_await client.until(NGHTTP2_HEADERS, 3);
    EXPECT_EQ(client.field(":status"), "200");
  });
}

// Sections 6.1 to 6.4, 6.6 and 6.8: frames where they do not belong, and padding.
INSTANTIATE_TEST_SUITE_P(
    Frames, H2Offence,
    testing::Values(
        sends("DataOnTheConnection", NGHTTP2_PROTOCOL_ERROR, FrameClient::data(0, "x")),
        sends("HeadersOnTheConnection", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kWholeHead | kEnd, 0, "\x82")),
        sends("PriorityOnTheConnection", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_PRIORITY, 0, 0, u32(1) + "\x10")),
        sends("ResetOfTheConnection", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_RST_STREAM, 0, 0, u32(0))),
        sends("SettingsOnAStream", NGHTTP2_PROTOCOL_ERROR, frame(NGHTTP2_SETTINGS, 0, 1)),
        sends("PingOnAStream", NGHTTP2_PROTOCOL_ERROR, frame(NGHTTP2_PING, 0, 1, "12345678")),
        sends("GoawayOnAStream", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_GOAWAY, 0, 1, u32(0) + u32(0))),
        sends("PriorityUpdateOnAStream", NGHTTP2_PROTOCOL_ERROR,
              frame(kPriorityUpdate, 0, 1, u32(1) + "u=1")),
        sends("PriorityUpdateOfTheConnection", NGHTTP2_PROTOCOL_ERROR,
              frame(kPriorityUpdate, 0, 0, u32(0) + "u=1")),
        sends("PriorityUpdateOfAnIdlePush", NGHTTP2_PROTOCOL_ERROR,
              frame(kPriorityUpdate, 0, 0, u32(2) + "u=1")),
        sends("PushPromise", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_PUSH_PROMISE, kWholeHead, 1, u32(2) + "\x82")),
        after_head("PushPromiseOnAnOpenStream", NGHTTP2_PROTOCOL_ERROR,
                   frame(NGHTTP2_PUSH_PROMISE, kWholeHead, 1, u32(2) + "\x82"), false),
        sends("HeadersPaddedBeyondTheirEnd", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kEnd | kWholeHead | kPadded, 1, "\x09\x82")),
        after_head("DataPaddedBeyondTheirEnd", NGHTTP2_PROTOCOL_ERROR,
                   frame(NGHTTP2_DATA, kPadded, 1, "\x04xyz"), false),
        after_head("DataPaddedWithoutALength", NGHTTP2_PROTOCOL_ERROR,
                   frame(NGHTTP2_DATA, kPadded, 1), false),
        sends("HeadersPaddedWithoutALength", NGHTTP2_PROTOCOL_ERROR,
              frame(NGHTTP2_HEADERS, kEnd | kWholeHead | kPadded, 1))),
    name_of);

// Section 6.5: settings.
INSTANTIATE_TEST_SUITE_P(
    Settings, H2Offence,
    testing::Values(sends("PushNeitherOnNorOff", NGHTTP2_PROTOCOL_ERROR,
                          settings_of(NGHTTP2_SETTINGS_ENABLE_PUSH, 2)),
                    sends("WindowTooLarge", NGHTTP2_FLOW_CONTROL_ERROR,
                          settings_of(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0x80000000)),
                    sends("FrameSizeTooSmall", NGHTTP2_PROTOCOL_ERROR,
                          settings_of(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16'383)),
                    sends("FrameSizeTooLarge", NGHTTP2_PROTOCOL_ERROR,
                          settings_of(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 1 << 24)),
                    sends("PrioritiesNeitherOnNorOff", NGHTTP2_PROTOCOL_ERROR,
                          settings_of(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 2)),
                    sends("AckOfNothing", NGHTTP2_PROTOCOL_ERROR,
                          frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0))),
    name_of);

// Section 6.9: flow control.
INSTANTIATE_TEST_SUITE_P(
    Windows, H2Offence,
    testing::Values(sends("UpdateOfZero", NGHTTP2_PROTOCOL_ERROR,
                          frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(0))),
                    after_head("UpdateOfZeroOnAStream", NGHTTP2_PROTOCOL_ERROR,
                               frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(0)), false),
                    sends("Overflow", NGHTTP2_FLOW_CONTROL_ERROR,
                          frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(0x7fffffff))),
                    sends("OverflowInSteps", NGHTTP2_FLOW_CONTROL_ERROR,
                          frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(0x7fff0000)) +
                              frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1))),
                    after_head("OverflowOnAStream", NGHTTP2_FLOW_CONTROL_ERROR,
                               frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(0x7fffffff)), true),
                    after_head("OverflowBySettings", NGHTTP2_FLOW_CONTROL_ERROR,
                               frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(0x7fff0000)) +
                                   settings_of(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0x7fffffff),
                               false)),
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

TEST_F(H2ServerTest, EndsAConnectionThatComesBackToAStreamItPassedOver) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(5, request_fields("/wait")) +
                         client.head(3, request_fields("/wait")));
    EXPECT_EQ(co_await verdict(client), "connection 1");
    EXPECT_EQ(site.started, 1U);
  });
}

}  // namespace
}  // namespace reprise
