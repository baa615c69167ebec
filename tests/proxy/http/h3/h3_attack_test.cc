// Clients that want to exhaust the server: what they can make it hold is bounded, and a good client
// is served.

#include <gtest/gtest.h>

#include "tests/proxy/http/h3/h3_pair.h"

namespace reprise {
namespace {

using Fields = QuicClient::Fields;

TEST(H3Attack, AFloodOfResetsRunsNoMoreHandlersThanStreams) {
  H3Pair pair;
  pair.quic_options.streams_max = 20;
  auto& client = pair.open();
  client.get("/early");
  pair.run([&] { return client.completed().size() == 1; });
  std::size_t running_max = 0;
  for (int i = 0; i < 2000; ++i) {
    auto const stream = client.get("/wait");
    pair.to_server();
    client.cancel(stream);
    pair.to_server();
    pair.context.restart();
    pair.context.poll();
    pair.to_client();
    pair.now += std::chrono::milliseconds(1);
    running_max = std::max(running_max, pair.site.started - pair.site.ended);
  }
  EXPECT_LE(running_max, 20u);
  EXPECT_GT(pair.site.started, 1000u);
  pair.run([&] { return pair.site.started == pair.site.ended; });
  auto const good = client.get("/early");
  pair.run([&] { return client.answer(good).complete; });
  EXPECT_EQ(client.answer(good).body, "early");
}

/// Each head is within its limit.
TEST(H3Attack, HeadsOfRunningRequestsAreBoundedTogether) {
  H3Pair pair;
  auto& client = pair.open();
  client.get("/early");
  pair.run([&] { return client.completed().size() == 1; });
  Fields const long_fields(60, {"x-long", std::string(3000, 'b')});
  for (int i = 0; i < 100 && !client.closed(); ++i) {
    Fields fields{
        {":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/slow"}};
    fields.insert(fields.end(), long_fields.begin(), long_fields.end());
    client.ask(std::move(fields), std::string("x"));
    pair.run([&] { return client.closed() || pair.site.started == static_cast<unsigned>(i) + 2; });
  }
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(client.close_code(), NGHTTP3_H3_EXCESSIVE_LOAD);
  // 4 MiB, in heads of 180 KB.
  EXPECT_LE(pair.site.started, 26u);
}

/// One field of the dynamic table, by a byte or two each time (RFC 9204 section 7.4).
class H3Bomb : public testing::Test {
 protected:
  static constexpr std::size_t kTimes = 1000;
  Fields const post{
      {":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/echo"}};
  /// Of a name that nghttp3 puts into the table.
  Fields const field{{"accept-language", std::string(2900, 'b')}};
  Fields const bomb = Fields(kTimes, field.front());

  /// After it, the field is in the table.
  void SetUp() override {
    auto& client = pair.open();
    client.get("/early", field);
    pair.run([&] { return client.completed().size() == 1; });
    sent_before = pair.bytes_to_server;
  }
  void expect_end_after_few_bytes() {
    pair.run([&] { return pair.client->closed(); });
    EXPECT_TRUE(pair.client->closed());
    EXPECT_EQ(pair.client->close_code(), NGHTTP3_H3_EXCESSIVE_LOAD);
    EXPECT_LT(pair.bytes_to_server - sent_before, 10 * kTimes);
  }

  H3Pair pair;
  std::size_t sent_before = 0;
};

TEST_F(H3Bomb, InAHeadEndsTheConnection) {
  pair.client->get("/early", bomb);
  expect_end_after_few_bytes();
  EXPECT_EQ(pair.site.started, 1u);
}

TEST_F(H3Bomb, InTrailersEndsTheConnection) {
  pair.client->ask(post, "x", bomb);
  expect_end_after_few_bytes();
}

/// Sends trailers that wait for a field of QPACK's table, and cancels the request: nghttp3 keeps
/// the stream after QUIC has closed it.
void cancel_a_blocked_request(H3Pair& pair) {
  auto& client = *pair.client;
  auto const stream = client.ask_unfinished(
      {{":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/early"}});
  pair.run([&] { return pair.site.started == 1; });
  pair.run();
  // HEADERS: one field, the first of the table, which needs one insertion.
  client.send_raw(stream, std::string("\x01\x03\x02\x00\x80", 5));
  pair.run();
  client.cancel(stream);
  pair.run();
  EXPECT_EQ(pair.site.ended, 1u);
}

/// Has such a stream scheduled again, on a connection that may not send its content yet.
QuicClient& schedule_a_closed_stream(H3Pair& pair) {
  auto& client = pair.open({.connection_window_bytes = 0});
  cancel_a_blocked_request(pair);
  // PRIORITY_UPDATE of stream 0.
  client.send_raw(QuicClient::kControlStream, std::string("\x80\x0f\x07\x00\x04\x00u=1", 9));
  pair.run();
  return client;
}

TEST(H3Attack, AClosedStreamThatQpackBlocksMayBeScheduled) {
  H3Pair pair;
  auto& client = schedule_a_closed_stream(pair);
  client.extend(0, 1 << 20);
  auto const good = client.get("/early");
  pair.run([&] { return client.answer(good).complete || client.closed(); });
  EXPECT_EQ(client.answer(good).body, "early");
}

/// nghttp3 frees the stream once the field has come.
TEST(H3Attack, AScheduledStreamThatWasClosedMayBeFreed) {
  H3Pair pair;
  auto& client = schedule_a_closed_stream(pair);
  // A table of 4,096 bytes, and "a: b".
  client.send_raw(QuicClient::kEncoderStream, std::string("\x3f\xe1\x1f\x41"
                                                          "a\x01"
                                                          "b",
                                                          7));
  pair.run();
  client.extend(0, 1 << 20);
  pair.run();
  EXPECT_FALSE(client.closed());
}

TEST(H3Attack, AStreamThatQpackBlocksForEverDoesNotKeepAnEndingConnection) {
  H3Pair pair;
  pair.open();
  cancel_a_blocked_request(pair);
  pair.h3->begin_ending();
  pair.run([&] { return pair.ended; });
  EXPECT_TRUE(pair.ended);
}

/// QUIC permits a stream for each of them at once, so nghttp3 has to permit it, too.
TEST(H3Attack, StreamsThatAreResetUnseenTakeNoOthersPriorities) {
  std::string const body(600'000, 'b');
  H3Pair pair;
  pair.options.concurrent_streams_max = 10;
  pair.quic_options.streams_max = 10;
  StoredResponse::Parts parts;
  parts.head = {.status = 200};
  parts.body = Bytes(bytes_of(body));
  pair.site.responses["/a"] = std::make_shared<StoredResponse>("GET", std::move(parts));
  auto& client = pair.open();
  client.get("/early");
  pair.run([&] { return client.completed().size() == 1; });
  for (int i = 0; i < 30; ++i) {
    client.reset_unseen();
    pair.run();
  }
  auto const running = client.get("/a");
  auto const waiting = client.get("/a");
  pair.run([&] { return client.answer(running).body.size() > 100'000; });
  client.update_priority(waiting, 1);
  pair.run([&] { return client.completed().size() == 3 || client.closed(); });
  EXPECT_FALSE(client.closed());
  EXPECT_EQ(client.completed(), (std::vector<std::int64_t>{0, waiting, running}));
}

TEST(H3Attack, MoreRequestsThanPermittedWait) {
  H3Pair pair;
  pair.quic_options.streams_max = 5;
  auto& client = pair.open();
  for (int i = 0; i < 50; ++i) client.get("/wait");
  pair.run([&] { return pair.site.started >= 5; });
  pair.run();
  EXPECT_EQ(pair.site.started, 5u);
  EXPECT_FALSE(client.closed());
}

}  // namespace
}  // namespace reprise
