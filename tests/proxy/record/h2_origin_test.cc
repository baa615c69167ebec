// Origins that speak HTTP/2, frame by frame.

#include <gmock/gmock.h>

#include "proxy/http/h2_server.h"
#include "proxy/record/record_connection.h"
#include "tests/proxy/http/h2_frames.h"
#include "tests/proxy/record/recorded_session.h"

namespace reprise {
namespace {

using testing::SizeIs;

using OriginPart = std::function<awaitable<void>(FrameClient&)>;

/// An origin that does `part`, and then waits for the end.
ScriptedDialer::Script plays_frames(OriginPart part) {
  return [part = std::move(part)](MemoryStream& stream) -> awaitable<void> {
    FrameClient origin(stream);
    co_await origin.take_magic();
    co_await origin.send(frame(NGHTTP2_SETTINGS, 0, 0) +
                         frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0));
    co_await part(origin);
    while (co_await origin.next()) continue;
  };
}

/// Answers the request of one stream with a head alone.
awaitable<void> answer_stream(FrameClient& origin, std::uint32_t stream) {
  co_await origin.until(NGHTTP2_HEADERS, stream);
  co_await origin.send(origin.head(stream, {{":status", "200"}}));
}

/// Closes the connection in order: streams above `last_stream` were not processed.
std::string goaway(std::uint32_t last_stream) {
  return frame(NGHTTP2_GOAWAY, 0, 0, u32(last_stream) + u32(NGHTTP2_NO_ERROR));
}

class H2SessionTest : public testing::Test {
 protected:
  H2SessionTest() { session_.dialer.alpn = "h2"; }

  /// What comes for `request`, sent over the connection of a GET that was answered.
  Received ask_after_a_get(std::string_view request) {
    Received first;
    Received second;
    session_.ask("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n" + std::string(request),
                 {&first, &second});
    session_.run();
    EXPECT_EQ(first.status, 200);
    return second;
  }
  std::vector<Exchange> exchanges() {
    reader_ = session_.archive();
    return exchanges_of(*reader_);
  }

  ScratchFolder folder_;
  RecordedSession session_{folder_ / "a.reprise"};

 private:
  std::unique_ptr<ArchiveReader> reader_;
};

constexpr std::string_view kEmptyPost =
    "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n";

TEST_F(H2SessionTest, SendsTrailersRightAfterTheHead) {
  session_.dialer.scripts = {plays_frames([](FrameClient& origin) -> awaitable<void> {
    co_await origin.until(NGHTTP2_HEADERS, 1);
    co_await origin.send(origin.head(1, {{":status", "200"}}, 0) +
                         origin.head(1, {{"grpc-status", "0"}}));
  })};
  Received received;
  session_.ask("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", {&received});
  session_.run();
  EXPECT_TRUE(received.whole);
  EXPECT_EQ(received.trailers, "grpc-status: 0\n");
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kComplete);
  EXPECT_EQ(find_header(kept[0].response.trailers.list(), "grpc-status"), "0");
}

TEST_F(H2SessionTest, GetsTrailersThatComeRightAfterTheHead) {
  std::string got;
  session_.dialer.scripts = {plays_frames([&](FrameClient& origin) -> awaitable<void> {
    auto const head = co_await origin.until(NGHTTP2_HEADERS, 1);
    EXPECT_FALSE(head.ends_stream());
    if (!head.ends_stream()) {
      co_await origin.until(NGHTTP2_HEADERS, 1);
      got = origin.field("x-sum");
    }
    co_await origin.send(origin.head(1, {{":status", "204"}}));
  })};
  auto const ends = MemoryStream::make_pair(session_.context);
  ConnectionInfo info{.id = 1, .alpn = "h2"};
  Deadline deadline;
  auto handler = session_.session->open(info);
  auto const serve = [&]() -> awaitable<void> {
    (void)co_await serve_h2(*ends.second, info, *handler, deadline, {});
    ends.second->close();
    handler->close();
    co_await handler->ended();
  };
  FrameClient client(*ends.first);
  auto const ask = [&]() -> awaitable<void> {
    co_await client.send(FrameClient::preface() + client.head(1, request_fields("/", "POST"), 0) +
                         client.head(1, {{"x-sum", "7"}}));
    co_await client.until(NGHTTP2_HEADERS, 1);
    ends.first->close();
  };
  spawn(session_.context, serve());
  spawn(session_.context, ask());
  session_.run();
  EXPECT_EQ(client.field(":status"), "204");
  EXPECT_EQ(got, "7");
  handler.reset();
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(find_header(kept[0].request.trailers.list(), "x-sum"), "7");
}

TEST_F(H2SessionTest, ThatSaysGoAwayGetsAnUnprocessedRequestOverAnotherConnection) {
  session_.dialer.scripts = {plays_frames([](FrameClient& origin) -> awaitable<void> {
                               co_await answer_stream(origin, 1);
                               co_await origin.until(NGHTTP2_HEADERS, 3);
                               co_await origin.send(goaway(1));
                             }),
                             plays_frames([](FrameClient& origin) -> awaitable<void> {
                               co_await answer_stream(origin, 1);
                             })};
  auto const received = ask_after_a_get(kEmptyPost);
  EXPECT_EQ(received.status, 200);
  EXPECT_THAT(session_.dialer.dialled, SizeIs(2));
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[1].outcome, Outcome::kComplete);
  EXPECT_NE(kept[0].origin_connection_id, kept[1].origin_connection_id);
}

TEST_F(H2SessionTest, ThatRefusesARequestIsAskedOnceMore) {
  session_.dialer.scripts = {plays_frames([](FrameClient& origin) -> awaitable<void> {
    co_await answer_stream(origin, 1);
    co_await origin.until(NGHTTP2_HEADERS, 3);
    co_await origin.send(frame(NGHTTP2_RST_STREAM, 0, 3, u32(NGHTTP2_REFUSED_STREAM)));
    co_await answer_stream(origin, 5);
  })};
  EXPECT_EQ(ask_after_a_get(kEmptyPost).status, 200);
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
}

TEST_F(H2SessionTest, ThatRefusesARequestAfterItsContentGetsItOverAnotherConnection) {
  std::string content;
  session_.dialer.scripts = {plays_frames([](FrameClient& origin) -> awaitable<void> {
                               co_await answer_stream(origin, 1);
                               co_await origin.until(NGHTTP2_DATA, 3);
                               co_await origin.send(goaway(1));
                             }),
                             plays_frames([&](FrameClient& origin) -> awaitable<void> {
                               auto const data = co_await origin.until(NGHTTP2_DATA, 1);
                               content = data.payload;
                               co_await origin.send(origin.head(1, {{":status", "200"}}));
                             })};
  auto const received =
      ask_after_a_get("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n\r\ndata");
  EXPECT_EQ(received.status, 200);
  EXPECT_EQ(content, "data");
  EXPECT_THAT(session_.dialer.dialled, SizeIs(2));
}

TEST_F(H2SessionTest, ThatResetsAPostFailsIt) {
  session_.dialer.scripts = {plays_frames([](FrameClient& origin) -> awaitable<void> {
    co_await answer_stream(origin, 1);
    co_await origin.until(NGHTTP2_HEADERS, 3);
    co_await origin.send(frame(NGHTTP2_RST_STREAM, 0, 3, u32(NGHTTP2_INTERNAL_ERROR)));
  })};
  EXPECT_EQ(ask_after_a_get(kEmptyPost).status, 502);
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
}

TEST_F(H2SessionTest, WhoseFreshConnectionsRefuseARequestIsDialledTwice) {
  auto const refuses = plays_frames([](FrameClient& origin) -> awaitable<void> {
    co_await origin.until(NGHTTP2_HEADERS, 1);
    co_await origin.send(goaway(0));
  });
  session_.dialer.scripts.assign(3, refuses);
  Received received;
  session_.ask(std::string(kEmptyPost), {&received});
  session_.run();
  EXPECT_EQ(received.status, 502);
  EXPECT_THAT(session_.dialer.dialled, SizeIs(2));
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kOriginFailed);
}

}  // namespace
}  // namespace reprise
