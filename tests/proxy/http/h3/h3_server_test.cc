#include "proxy/http/h3/h3_server.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "tests/proxy/http/h3/h3_pair.h"

namespace reprise {
namespace {

using Fields = QuicClient::Fields;

class H3ServerTest : public testing::Test {
 protected:
  /// Serves `body` at `path`; it lives as long as the test.
  void store(const std::string& path, const std::string& body, HeaderList trailers = {}) {
    StoredResponse::Parts parts;
    parts.head = {.status = 200, .reason = "OK", .headers = kPlain};
    parts.body = Bytes(bytes_of(bodies_.emplace_back(body)));
    parts.trailers = trailers;
    pair.site.responses[path] = std::make_shared<StoredResponse>("GET", std::move(parts));
  }

  static std::string value_of(const Fields& fields, const std::string& name) {
    for (auto const& field : fields) {
      if (field.first == name) return field.second;
    }
    return "(none)";
  }

  /// Every byte differs from its neighbours, so that a shift shows.
  static std::string pattern(std::size_t size_bytes) {
    std::string text(size_bytes, '\0');
    for (std::size_t i = 0; i < size_bytes; ++i) {
      text[i] = static_cast<char>((i * 31 + i / 251) & 0xff);
    }
    return text;
  }

  static constexpr std::array<HeaderView, 2> kPlain{
      {{"Content-Type", "text/plain"}, {"Connection", "close"}}};
  std::deque<std::string> bodies_;
  H3Pair pair;
};

TEST_F(H3ServerTest, SendsAStoredResponseByteForByte) {
  auto const body = pattern(3'000'000);
  store("/a", body);
  auto& client = pair.open();
  auto const stream = client.get("/a");
  pair.run([&] { return client.answer(stream).complete; });
  auto const& answer = client.answer(stream);
  EXPECT_EQ(answer.status, "200");
  EXPECT_TRUE(answer.body == body) << answer.body.size();
  EXPECT_EQ(value_of(answer.fields, "content-type"), "text/plain");
  EXPECT_EQ(value_of(answer.fields, "connection"), "(none)");
  EXPECT_EQ(pair.asked_name, "a.test");
}

TEST_F(H3ServerTest, TellsThatThePortServesHttp3) {
  store("/a", "text");
  auto& client = pair.open();
  auto const stored = client.get("/a");
  auto const made = client.get("/early");
  auto const with_port = client.ask(
      {{":method", "GET"}, {":scheme", "https"}, {":authority", "a.test:8443"}, {":path", "/a"}});
  pair.run([&] { return client.completed().size() == 3; });
  EXPECT_EQ(value_of(client.answer(stored).fields, "alt-svc"), "h3=\":443\"");
  EXPECT_EQ(value_of(client.answer(made).fields, "alt-svc"), "h3=\":443\"");
  EXPECT_EQ(value_of(client.answer(with_port).fields, "alt-svc"), "h3=\":8443\"");
}

TEST_F(H3ServerTest, TellsItOfTheGivenHostsAlone) {
  std::set<std::string, std::less<>> const hosts{"a.test"};
  pair.options.alt_svc_hosts = std::make_shared<const std::set<std::string, std::less<>>>(hosts);
  store("/a", "text");
  auto& client = pair.open();
  auto const ask = [&](const std::string& authority) {
    return client.ask(
        {{":method", "GET"}, {":scheme", "https"}, {":authority", authority}, {":path", "/a"}});
  };
  auto const told = ask("A.test");
  auto const untold = ask("b.test");
  pair.run([&] { return client.completed().size() == 2; });
  EXPECT_EQ(value_of(client.answer(told).fields, "alt-svc"), "h3=\":443\"");
  EXPECT_EQ(value_of(client.answer(untold).fields, "alt-svc"), "(none)");
}

TEST_F(H3ServerTest, SendsTrailersAndPieces) {
  constexpr std::array<HeaderView, 1> kTrailers{{{"X-Sum", "42"}}};
  store("/trailers", "text", kTrailers);
  StoredResponse::Parts parts;
  parts.head = {.status = 200, .reason = "OK"};
  parts.pieces = std::make_unique<ThreePieces>();
  pair.site.responses["/pieces"] = std::make_shared<StoredResponse>("GET", std::move(parts));
  auto& client = pair.open();
  auto const trailers = client.get("/trailers");
  auto const pieces = client.get("/pieces");
  auto const interim = client.get("/interim");
  pair.run([&] { return client.completed().size() == 3; });
  EXPECT_EQ(client.answer(trailers).body, "text");
  EXPECT_EQ(client.answer(trailers).trailers, (Fields{{"x-sum", "42"}}));
  EXPECT_EQ(client.answer(pieces).body, "left right");
  EXPECT_EQ(client.answer(interim).interim, std::vector<std::string>{"103"});
  EXPECT_EQ(client.answer(interim).body, "text");
  EXPECT_EQ(client.answer(interim).trailers, (Fields{{"x-end", "1"}, {"x-end", "2"}}));
}

TEST_F(H3ServerTest, ReadsContentAndNamesTheRequest) {
  auto& client = pair.open();
  auto const stream = client.ask(
      {{":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/echo"}},
      std::string("content"));
  pair.run([&] { return client.answer(stream).complete; });
  EXPECT_EQ(client.answer(stream).body, "0 POST https a.test:443/echo content");
}

TEST_F(H3ServerTest, PassesTheClientsWindowOnToTheHandler) {
  constexpr std::uint64_t kWindow = 100'000;
  auto& client = pair.open({.stream_window_bytes = kWindow, .extends_windows = false});
  auto const stream = client.get("/download");
  pair.run();
  EXPECT_LE(client.answer(stream).body.size(), kWindow);
  // What the handler was rid of is at most the window and what waits in the session.
  EXPECT_LE(pair.site.written_bytes, kWindow + 64'000);
  client.extend(stream, 2 * Site::kDownloadBytes);
  pair.run([&] { return client.answer(stream).complete; });
  EXPECT_EQ(client.answer(stream).body.size(), Site::kDownloadBytes);
}

TEST_F(H3ServerTest, HoldsBackAClientThatNobodyReads) {
  pair.quic_options.stream_window_bytes = 50'000;
  auto& client = pair.open();
  auto const stream = client.ask(
      {{":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/slow"}},
      pattern(1'000'000));
  pair.run();
  EXPECT_LE(pair.bytes_to_server, 80'000u);
  pair.site.release();
  pair.run([&] { return client.answer(stream).complete; });
  EXPECT_EQ(pair.site.read_bytes, 1'000'000u);
}

TEST_F(H3ServerTest, SendsUrgentResponsesFirst) {
  store("/a", pattern(400'000));
  auto& client = pair.open();
  client.get("/echo");  // the handshake, and a window that has grown a little
  pair.run([&] { return client.completed().size() == 1; });
  auto const late = client.get("/a", {{"priority", "u=6"}});
  auto const usual = client.get("/a");
  auto const urgent = client.get("/a", {{"priority", "u=0"}});
  pair.run([&] { return client.completed().size() == 4; });
  EXPECT_EQ(client.completed(), (std::vector<std::int64_t>{0, urgent, usual, late}));
}

TEST_F(H3ServerTest, SendsAgainWhatWasLost) {
  auto const body = pattern(500'000);
  store("/a", body);
  pair.arrives_at_client = [](std::size_t index) { return index % 7 != 3; };
  pair.arrives_at_server = [](std::size_t index) { return index % 5 != 4; };
  auto& client = pair.open();
  auto const stored = client.get("/a");
  auto const made = client.get("/download");
  pair.run([&] { return client.completed().size() == 2; });
  EXPECT_TRUE(client.answer(stored).body == body);
  EXPECT_EQ(client.answer(made).body, std::string(Site::kDownloadBytes, 'd'));
}

TEST_F(H3ServerTest, ResetsWhatItsHandlerBreaksOff) {
  auto& client = pair.open();
  auto const stream = client.get("/broken");
  pair.run([&] { return client.answer(stream).reset.has_value(); });
  EXPECT_EQ(client.answer(stream).reset, NGHTTP3_H3_INTERNAL_ERROR);
}

TEST_F(H3ServerTest, SendsAllThatAHandlerHasFlushedBeforeItBreaksOff) {
  auto& client = pair.open();
  auto const stream = client.get("/cut");
  pair.run([&] { return client.answer(stream).reset.has_value(); });
  auto const& answer = client.answer(stream);
  EXPECT_TRUE(answer.body == std::string(Site::kCutBytes, 'c')) << answer.body.size();
  EXPECT_EQ(answer.reset, NGHTTP3_H3_INTERNAL_ERROR);
}

/// Nothing but a head, whose first datagram is lost: a reset at once would discard it.
TEST_F(H3ServerTest, SendsTheHeadAgainOfAnAnswerThatIsCutBeforeItsContent) {
  auto& client = pair.open();
  client.get("/early");
  pair.run([&] { return client.completed().size() == 1; });
  pair.run();
  bool loses = true;
  auto const stream = client.get("/cut-early");
  pair.arrives_at_client = [&](std::size_t) { return !loses || pair.site.started < 2; };
  pair.run([&, rounds = 0]() mutable { return pair.site.started == 2 && ++rounds > 8; });
  EXPECT_EQ(pair.site.ended, 1u);
  loses = false;
  pair.run([&] { return client.answer(stream).reset.has_value(); });
  EXPECT_EQ(client.answer(stream).status, "200");
  EXPECT_EQ(client.answer(stream).reset, NGHTTP3_H3_INTERNAL_ERROR);
  pair.arrives_at_client = nullptr;
}

/// What was sent and acknowledged before is the interim head alone.
TEST_F(H3ServerTest, SendsTheHeadOfACutAnswerWithoutContentAfterAnInterimOne) {
  auto& client = pair.open();
  for (auto const* const status : {"204", "304"}) {
    auto const stream = client.get("/cut-" + std::string(status));
    pair.run();
    auto const ended = pair.site.ended;
    EXPECT_EQ(client.answer(stream).status, "103");
    pair.site.release();
    pair.run([&] { return pair.site.ended > ended; });
    EXPECT_EQ(client.answer(stream).interim, std::vector<std::string>{"103"});
    EXPECT_EQ(client.answer(stream).status, status);
  }
}

/// nghttp3 would send nothing on any stream.
TEST_F(H3ServerTest, HoldsAHandlerBackWhileManyOfItsWritesAreNotAcknowledged) {
  auto& client = pair.open();
  client.get("/early");
  pair.run([&] { return client.completed().size() == 1; });
  bool arrives = false;
  pair.arrives_at_client = [&](std::size_t) { return arrives; };
  auto const stream = client.get("/drops");
  pair.run([rounds = 0]() mutable { return ++rounds > 4000; });
  EXPECT_GT(pair.site.written_bytes, 200u);
  EXPECT_LE(pair.site.written_bytes, 260u);
  arrives = true;
  pair.patience = std::chrono::seconds(100);
  pair.run([&] { return client.answer(stream).complete; });
  EXPECT_EQ(client.answer(stream).body, std::string(Site::kDrops, 'd'));
  pair.arrives_at_client = nullptr;
}

TEST_F(H3ServerTest, FlushesNothingMoreToAClientThatStandsStill) {
  auto& client = pair.open({.stream_window_bytes = 1000, .extends_windows = false});
  auto const stream = client.get("/cut");
  pair.run();
  EXPECT_EQ(pair.site.ended, 0u);
  pair.h3->sweep(pair.now);
  EXPECT_FALSE(client.answer(stream).reset);
  pair.h3->sweep(pair.now + pair.options.stall_timeout + std::chrono::seconds(1));
  pair.run([&] { return pair.site.ended == 1 && client.answer(stream).reset.has_value(); });
  EXPECT_EQ(pair.site.ended, 1u);
  EXPECT_EQ(client.answer(stream).reset, NGHTTP3_H3_REQUEST_CANCELLED);
}

TEST_F(H3ServerTest, FlushesNothingMoreOfACancelledRequest) {
  auto& client = pair.open({.stream_window_bytes = 1000, .extends_windows = false});
  auto const stream = client.get("/cut");
  pair.run();
  EXPECT_EQ(pair.site.ended, 0u);
  client.cancel(stream);
  pair.run([&] { return pair.site.ended == 1; });
  EXPECT_EQ(pair.site.ended, 1u);
}

/// finish() checks that the handler ends.
TEST_F(H3ServerTest, FlushesNothingMoreOnAConnectionThatEnds) {
  auto& client = pair.open({.stream_window_bytes = 1000, .extends_windows = false});
  client.get("/cut");
  pair.run();
  EXPECT_EQ(pair.site.started, 1u);
  EXPECT_EQ(pair.site.ended, 0u);
}

TEST_F(H3ServerTest, EndsTheHandlerOfACancelledRequest) {
  auto& client = pair.open();
  auto const stream = client.get("/wait");
  pair.run([&] { return pair.site.started == 1; });
  client.cancel(stream);
  pair.run([&] { return pair.site.ended == 1; });
  EXPECT_EQ(pair.site.ended, 1u);
  auto const next = client.get("/early");
  pair.run([&] { return client.answer(next).complete; });
  EXPECT_EQ(client.answer(next).body, "early");
}

TEST_F(H3ServerTest, ServesMoreRequestsThanItPermitsAtATime) {
  store("/a", "text");
  pair.quic_options.streams_max = 10;
  auto& client = pair.open();
  for (int i = 0; i < 100; ++i) client.get("/a");
  pair.run([&] { return client.completed().size() == 100; });
  EXPECT_EQ(client.completed().size(), 100u);
}

TEST_F(H3ServerTest, FinishesRequestsBeforeItEnds) {
  auto& client = pair.open();
  auto const held = client.get("/held");
  pair.run([&] { return pair.site.started == 1; });
  pair.h3->begin_ending();
  pair.run([&] { return client.told_to_go_away(); });
  EXPECT_TRUE(client.told_to_go_away());
  pair.h3->sweep(pair.now);
  pair.site.release();
  pair.run([&] { return client.closed(); });
  EXPECT_EQ(client.answer(held).body, "released");
  EXPECT_EQ(client.close_code(), NGHTTP3_H3_NO_ERROR);
  EXPECT_TRUE(pair.server->over());
}

TEST_F(H3ServerTest, EndsAtOnceWithoutRequests) {
  auto& client = pair.open();
  auto const stream = client.get("/early");
  pair.run([&] { return client.answer(stream).complete; });
  pair.run();  // until everything is acknowledged
  pair.h3->begin_ending();
  pair.run([&] { return client.closed(); });
  EXPECT_EQ(client.close_code(), NGHTTP3_H3_NO_ERROR);
}

TEST_F(H3ServerTest, RefusesAHeadThatUnfoldsToTooMuch) {
  auto& client = pair.open();
  Fields many;
  for (int i = 0; i < 40; ++i)
    many.emplace_back("x-" + std::to_string(i), std::string(16'000, 'x'));
  client.get("/a", many);
  pair.run([&] { return client.closed(); });
  EXPECT_EQ(client.close_code(), NGHTTP3_H3_EXCESSIVE_LOAD);
  EXPECT_EQ(pair.site.started, 0u);
}

/// Each of the first datagrams is lost once: parts of two streams' trailers then take turns.
TEST(H3Trailers, OfStreamsThatArriveTogetherStayApart) {
  constexpr std::size_t kDatagrams = 16;
  auto const field = [](char letter) { return std::string("x-") + letter; };
  for (std::size_t lost = 0; lost < kDatagrams; ++lost) {
    H3Pair pair;
    pair.arrives_at_server = [&](std::size_t index) { return index != lost; };
    auto& client = pair.open();
    Fields const post{
        {":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/echo"}};
    std::map<char, std::int64_t> streams;
    for (char const letter : {'a', 'b', 'c'}) {
      streams[letter] = client.ask(
          post, "body", {{field(letter), std::string(2500, letter)}, {field(letter) + "2", "end"}});
    }
    pair.run([&] { return client.completed().size() == streams.size(); });
    for (auto const& [letter, stream] : streams) {
      EXPECT_EQ(client.answer(stream).body,
                std::to_string(stream) + " POST https a.test:443/echo body +" + field(letter) +
                    "=" + std::string(2500, letter) + " +" + field(letter) + "2=end")
          << lost;
    }
    EXPECT_GT(pair.datagrams_to_server, 6u);
  }
}

TEST_F(H3ServerTest, AnswersALongHeadWith431) {
  auto& client = pair.open();
  Fields many;
  for (int i = 0; i < 20; ++i)
    many.emplace_back("x-" + std::to_string(i), std::string(16'000, 'x'));
  auto const stream = client.get("/a", many);
  pair.run([&] { return client.answer(stream).complete; });
  EXPECT_EQ(client.answer(stream).status, "431");
  EXPECT_EQ(pair.site.started, 0u);
}

TEST_F(H3ServerTest, ResetsARequestWhoseClientStandsStill) {
  auto& client = pair.open({.stream_window_bytes = 1000, .extends_windows = false});
  store("/a", pattern(100'000));
  auto const stream = client.get("/a");
  pair.run();
  pair.h3->sweep(pair.now);
  EXPECT_FALSE(client.answer(stream).reset);
  pair.h3->sweep(pair.now + pair.options.stall_timeout + std::chrono::seconds(1));
  pair.run([&] { return client.answer(stream).reset.has_value(); });
  EXPECT_EQ(client.answer(stream).reset, NGHTTP3_H3_REQUEST_CANCELLED);
}

}  // namespace
}  // namespace reprise
