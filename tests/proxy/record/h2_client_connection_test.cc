// A client that speaks HTTP/2: one connection, many exchanges at once, with many origins.

#include <gmock/gmock.h>

#include "proxy/http/h2_client.h"
#include "proxy/http/h2_server.h"
#include "proxy/record/record_connection.h"
#include "tests/proxy/record/recorded_session.h"

namespace reprise {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::SizeIs;

/// Answers each request with its host; those for a.test once they are released.
class HeldHost final : public Handler {
 public:
  Task<void> serve(const ExchangeContext&, const RequestHead& head, BodyReader&,
                   ResponseWriter& writer) override {
    if (head.host == "a.test") co_await released.wait();
    co_return co_await send_text(writer, 200, head.host);
  }
  Event released;
};

/// Answers once; then it resets each request.
class OnceOnly final : public Handler {
 public:
  Task<void> serve(const ExchangeContext&, const RequestHead& head, BodyReader&,
                   ResponseWriter& writer) override {
    if (++asked > 1) co_return fail(std::make_error_code(std::errc::io_error));
    co_return co_await send_text(writer, 200, head.host);
  }
  int asked = 0;
};

/// What an HTTP/2 client got.
struct H2Received {
  std::vector<std::uint16_t> statuses;
  std::string body;
  bool whole = false;
};

/// An HTTP/2 origin with `site`.
ScriptedDialer::Script h2_origin_of(Handler& site, const H2ServerOptions& options = {}) {
  return [&site, options](MemoryStream& stream) -> awaitable<void> {
    ConnectionInfo info{.id = 1};
    Deadline deadline;
    (void)co_await serve_h2(stream, info, site, deadline, options);
  };
}

class H2ClientConnection : public testing::Test {
 protected:
  H2ClientConnection() {
    auto ends = MemoryStream::make_pair(session_.context);
    client_ = std::make_unique<H2Client>(std::move(ends.first), H2Client::Settings{});
    server_ = std::move(ends.second);
    handler_ = session_.session->open(info_);
    spawn(session_.context, serve());
    spawn(session_.context, transfer());
  }

  /// Requests https://`host`/, and lets everything happen that can.
  void ask(const std::string& host, H2Received& received) {
    spawn(session_.context, exchange(host, received));
    session_.context.poll();
  }
  /// Begins an upload to https://a.test/, which is not complete unless it `finishes`.
  void upload(std::size_t size_bytes, bool finishes, H2Received& received) {
    spawn(session_.context, send(size_bytes, finishes, received));
    session_.context.poll();
  }
  void cancel_upload() {
    client_->drop(*upload_);
    upload_.reset();
    session_.context.poll();
  }
  /// Ends the client's connection; what the archive then has.
  std::vector<Exchange> exchanges() {
    client_->stream().close();
    session_.run();
    handler_.reset();
    reader_ = session_.archive();
    return exchanges_of(*reader_);
  }

  ScratchFolder folder_;
  RecordedSession session_{folder_ / "a.reprise"};

 private:
  awaitable<void> serve() {
    (void)co_await serve_h2(*server_, info_, *handler_, deadline_, {});
    server_->close();
    handler_->close();
    co_await handler_->ended();
  }
  awaitable<void> transfer() { (void)co_await client_->serve(); }

  awaitable<void> exchange(std::string host, H2Received& received) {
    RequestHead const head{.method = "GET",
                           .scheme = Scheme::kHttps,
                           .host = host,
                           .port = 443,
                           .target = "/",
                           .version = HttpVersion::kH2,
                           .headers = {}};
    auto const stream = client_->request(head, {}, false);
    if (!stream) co_return;
    received.whole = (co_await take(**stream, received)).has_value();
    client_->drop(**stream);
  }
  awaitable<void> send(std::size_t size_bytes, bool finishes, H2Received& received) {
    RequestHead const head{.method = "POST",
                           .scheme = Scheme::kHttps,
                           .host = "a.test",
                           .port = 443,
                           .target = "/",
                           .version = HttpVersion::kH2,
                           .headers = {}};
    auto stream = client_->request(head, {}, true);
    if (!stream) co_return;
    upload_ = std::move(*stream);
    std::vector<std::byte> const content(size_bytes);
    auto const sent = co_await upload_->write(content);
    EXPECT_TRUE(sent);
    if (!finishes) co_return;
    auto const finished = co_await upload_->finish({});
    EXPECT_TRUE(finished);
    received.whole = (co_await take(*upload_, received)).has_value();
    client_->drop(*upload_);
  }
  static Task<void> take(H2ClientStream& stream, H2Received& received) {
    do {
      auto const head = co_await stream.read_head();
      if (!head) co_return fail(head.error());
      received.statuses.push_back(head->status);
    } while (is_interim(received.statuses.back()));
    while (!stream.finished()) {
      auto const piece = co_await stream.read();
      if (!piece) co_return fail(piece.error());
      received.body += text_of(*piece);
    }
    co_return Result<void>{};
  }

  ConnectionInfo info_{.id = 1, .alpn = "h2"};
  Deadline deadline_;
  std::unique_ptr<MemoryStream> server_;
  std::unique_ptr<ConnectionHandler> handler_;
  std::unique_ptr<H2Client> client_;
  std::unique_ptr<H2ClientStream> upload_;
  std::unique_ptr<ArchiveReader> reader_;
};

TEST_F(H2ClientConnection, ClosesNoConnectionWithARunningExchangeForOneMore) {
  constexpr std::size_t kHosts = RecordConnection::kConnectionsMax + 1;
  HeldHost site;
  session_.dialer.alpn = "h2";
  session_.dialer.scripts.assign(kHosts, h2_origin_of(site));
  std::vector<H2Received> received(kHosts);
  ask("a.test", received[0]);
  for (std::size_t i = 1; i < kHosts; ++i) {
    ask("host" + std::to_string(i) + ".test", received[i]);
    EXPECT_EQ(received[i].body, "host" + std::to_string(i) + ".test");
  }
  EXPECT_THAT(session_.dialer.dialled, SizeIs(kHosts));
  site.released.set();
  session_.context.poll();
  EXPECT_TRUE(received[0].whole);
  EXPECT_EQ(received[0].body, "a.test");
  auto const kept = exchanges();
  EXPECT_THAT(kept, SizeIs(kHosts));
  EXPECT_THAT(kept, Each(Field(&Exchange::outcome, Outcome::kComplete)));
}

TEST_F(H2ClientConnection, KnowsARequestSentOnceTheOriginsLimitOfStreamsLetsItGo) {
  HeldHost site;
  session_.dialer.alpn = "h2";
  session_.dialer.scripts = {h2_origin_of(site, {.concurrent_streams_max = 1})};
  std::vector<H2Received> received(2);
  for (H2Received& each : received) ask("a.test", each);
  auto const first_answer = session_.session->now();
  for (const H2Received& each : received) {
    site.released.set();
    session_.context.poll();
    EXPECT_TRUE(each.whole);
  }
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_LE(kept[0].timings.request_sent, first_answer);
  EXPECT_GE(kept[1].timings.request_sent, first_answer);
  EXPECT_LE(kept[1].timings.request_sent, kept[1].timings.first_byte);
}

TEST_F(H2ClientConnection, DialsAHostThatCannotBeReachedOnceForAllThatWait) {
  Event answered;
  session_.dialer.held = &answered;
  std::vector<H2Received> received(3);
  for (H2Received& each : received) ask("a.test", each);
  answered.set();
  session_.context.poll();
  for (const H2Received& each : received) EXPECT_THAT(each.statuses, ElementsAre(502));
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
  EXPECT_THAT(exchanges(), Each(Field(&Exchange::outcome, Outcome::kOriginFailed)));
}

TEST_F(H2ClientConnection, AsksAnOriginThatResetsARequestOnlyOnceMore) {
  OnceOnly site;
  session_.dialer.alpn = "h2";
  session_.dialer.scripts = {h2_origin_of(site)};
  std::vector<H2Received> received(2);
  for (H2Received& each : received) ask("a.test", each);
  EXPECT_EQ(received[0].body, "a.test");
  ASSERT_THAT(received[1].statuses, SizeIs(1));
  EXPECT_EQ(received[1].statuses[0], 502);
  EXPECT_EQ(site.asked, 3);
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[1].outcome, Outcome::kOriginFailed);
}

/// They would all wait in memory for a client that takes nothing.
TEST_F(H2ClientConnection, FailsAnExchangeWhoseOriginSendsInterimHeadsWithoutEnd) {
  session_.dialer.scripts = {[](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    std::string wire;
    for (std::size_t i = 0; i <= InterimLimit::kCountMax; ++i) {
      wire += "HTTP/1.1 102 Processing\r\n\r\n";
    }
    wire += "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    (void)co_await stream.write(bytes_of(wire));
    (void)co_await read_all(stream);
  }};
  H2Received received;
  ask("a.test", received);
  ASSERT_THAT(received.statuses, SizeIs(InterimLimit::kCountMax + 1));
  EXPECT_EQ(received.statuses.back(), 502);
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kOriginFailed);
  EXPECT_THAT(kept[0].failure, HasSubstr("ENHANCE_YOUR_CALM"));
}

/// More than the stream to an origin holds.
constexpr std::size_t kLongUploadBytes = 2 * MemoryStream::kUnreadBytesMax;

TEST_F(H2ClientConnection, EndsAnUploadThatTheClientCancelsWhileItIsHeldUp) {
  session_.dialer.scripts = {[](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    co_await stream.peer_gone();
  }};
  H2Received received;
  upload(kLongUploadBytes, false, received);
  EXPECT_EQ(session_.session->counters().in_flight, 1U);
  cancel_upload();
  EXPECT_EQ(session_.session->counters().in_flight, 0U);
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kCutByClient);
  EXPECT_TRUE(kept[0].request.body_partial);
}

/// The connection that the client would have to see closed carries other exchanges, too.
TEST_F(H2ClientConnection, FailsALongUploadWhoseReusedConnectionEnds) {
  session_.dialer.scripts = {[](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    (void)co_await stream.write(bytes_of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    (void)co_await read_through(stream, "\r\n0\r\n\r\n");
    stream.abort();
  }};
  H2Received first;
  ask("a.test", first);
  EXPECT_TRUE(first.whole);
  H2Received received;
  upload(kLongUploadBytes, true, received);
  EXPECT_THAT(received.statuses, ElementsAre(502));
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[1].outcome, Outcome::kOriginFailed);
}

/// The client's stream has closed in order before that: the client has not left.
TEST_F(H2ClientConnection, PassesTheRestOfAnUploadToAnOriginThatAnsweredEarly) {
  Event released;
  std::string seen;
  session_.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    (void)co_await stream.write(bytes_of("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"));
    co_await released.wait();
    seen = co_await read_all(stream);
  }};
  H2Received received;
  upload(kLongUploadBytes, true, received);
  EXPECT_TRUE(received.whole);
  EXPECT_EQ(received.body, "done");
  released.set();
  session_.context.poll();
  auto const kept = exchanges();
  EXPECT_GT(seen.size(), kLongUploadBytes);
  EXPECT_TRUE(seen.ends_with("\r\n0\r\n\r\n"));
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kComplete);
}

}  // namespace
}  // namespace reprise
