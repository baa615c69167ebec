#include "proxy/http/h1_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/post.hpp>

#include "tests/proxy/http/loopback.h"

namespace reprise {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// Answers every request with what it saw of it.
class Echo final : public Handler {
 public:
  Task<void> serve(const ExchangeContext& context, const RequestHead& head, BodyReader& body,
                   ResponseWriter& writer) override {
    if (head.target == "/unread") co_return co_await send_text(writer, 200, "unread");
    if (head.target == "/broken") co_return fail(std::make_error_code(std::errc::io_error));
    std::string content;
    while (!body.finished()) {
      auto const piece = co_await body.read();
      if (!piece) co_return fail(piece.error());
      content += text_of(*piece);
    }
    for (const HeaderView& field : body.trailers()) content += " +" + std::string(field.value);
    auto const text = std::to_string(context.stream_id) + " " + std::string(head.method) + " " +
                      std::string(to_string(head.scheme)) + " " + std::string(head.host) + ":" +
                      std::to_string(head.port) + std::string(head.target) + " " + content + ".";
    if (head.target == "/chunked") co_return co_await chunked(writer, text);
    if (head.target == "/until-close") co_return co_await until_close(writer, text);
    co_return co_await send_text(writer, 200, text);
  }

 private:
  static Task<void> chunked(ResponseWriter& writer, const std::string& text) {
    std::array<HeaderView, 1> const fields{{{"Transfer-Encoding", "chunked"}}};
    std::array<HeaderView, 1> const trailers{{{"X-End", "yes"}}};
    (void)co_await writer.send_head({.status = 103, .reason = "Early Hints"});
    (void)co_await writer.send_head({.status = 200, .reason = "OK", .headers = fields});
    (void)co_await writer.write(bytes_of(text));
    co_return co_await writer.finish(trailers);
  }
  static Task<void> until_close(ResponseWriter& writer, const std::string& text) {
    (void)co_await writer.send_head({.status = 200, .reason = "OK"});
    (void)co_await writer.write(bytes_of(text));
    co_return co_await writer.finish({});
  }
};

/// Answers without a length, as an origin that speaks `version`.
class Unframed final : public Handler {
 public:
  explicit Unframed(HttpVersion version) : version_(version) {}
  Task<void> serve(const ExchangeContext&, const RequestHead& head, BodyReader&,
                   ResponseWriter& writer) override {
    if (head.target == "/stored") {
      auto const stored = std::make_shared<StoredResponse>(
          "GET", StoredResponse::Parts{.head = {.version = version_, .status = 200},
                                       .body = bytes_of("text")});
      co_return co_await writer.send_stored(stored);
    }
    (void)co_await writer.send_head({.version = version_, .status = 200});
    (void)co_await writer.write(bytes_of("text"));
    co_return co_await writer.finish({});
  }

 private:
  HttpVersion version_;
};

/// What the server with `handler` answers to `request` before it or the client ends the
/// connection.
std::string answer_of(Handler& handler, const std::string& request,
                      const H1ServerOptions& options = {}) {
  Loopback ends;
  ConnectionInfo const info{.id = 1};
  Deadline deadline;
  std::string received;
  ends.spawn([&]() -> awaitable<void> {
    (void)co_await serve_h1(*ends.server, info, handler, deadline, options, {});
    ends.server->close();
  });
  ends.spawn([&]() -> awaitable<void> {
    (void)co_await ends.client->write(bytes_of(request));
    co_await ends.client->shutdown();
    received = co_await Loopback::read_all(*ends.client);
  });
  ends.run();
  return received;
}

std::string answer(const std::string& request, const H1ServerOptions& options = {}) {
  Echo echo;
  return answer_of(echo, request, options);
}

TEST(H1Server, ServesKeptAliveAndPipelinedRequestsInOrder) {
  auto const text = answer(
      "GET /a HTTP/1.1\r\nHost: X.test\r\n\r\n"
      "POST /b HTTP/1.1\r\nHost: x.test:81\r\nContent-Length: 3\r\n\r\nabc"
      "\r\nGET /c HTTP/1.1\r\nHost: x.test\r\n\r\n");
  EXPECT_THAT(text, HasSubstr("1 GET http x.test:80/a ."));
  EXPECT_THAT(text, HasSubstr("2 POST http x.test:81/b abc."));
  EXPECT_THAT(text, EndsWith("3 GET http x.test:80/c ."));
}

TEST(H1Server, DecodesChunkedRequestsAndTheirTrailers) {
  auto const text = answer(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nab\r\n3\r\ncde\r\n0\r\nT: trailing\r\n\r\n");
  EXPECT_THAT(text, EndsWith("POST http a:80/ abcde +trailing."));
}

TEST(H1Server, TrailersAreThoseOfTheirOwnRequest) {
  auto const text = answer(
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nab\r\n0\r\nT: trailing\r\n\r\n"
      "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nc");
  EXPECT_THAT(text, HasSubstr("POST http a:80/a ab +trailing."));
  EXPECT_THAT(text, EndsWith("POST http a:80/b c."));
}

TEST(H1Server, WritesChunksTrailersAndInterimHeads) {
  EXPECT_EQ(answer("GET /chunked HTTP/1.1\r\nHost: a\r\n\r\n"),
            "HTTP/1.1 103 Early Hints\r\n\r\n"
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "19\r\n1 GET http a:80/chunked .\r\n0\r\nX-End: yes\r\n\r\n");
}

TEST(H1Server, SpeaksToOldClientsWithoutChunksOrInterimHeads) {
  EXPECT_EQ(answer("GET /chunked HTTP/1.0\r\nHost: a\r\n\r\n"),
            "HTTP/1.1 200 OK\r\n\r\n1 GET http a:80/chunked .");
}

TEST(H1Server, EndsTheConnectionAfterABodyWithoutLength) {
  auto const text =
      answer("GET /until-close HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(text, EndsWith("1 GET http a:80/until-close ."));
}

TEST(H1Server, KeepsTheConnectionBehindABodyWithoutLengthOfAnotherProtocol) {
  for (HttpVersion const version : {HttpVersion::kH2, HttpVersion::kH3, HttpVersion::kUnknown}) {
    SCOPED_TRACE(to_string(version));
    Unframed origin(version);
    EXPECT_EQ(answer_of(origin,
                        "GET /stored HTTP/1.1\r\nHost: a\r\n\r\n"
                        "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
              "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext"
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n0\r\n\r\n");
  }
}

TEST(H1Server, SendsNoContentForHead) {
  auto const text = answer("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(text, EndsWith("\r\n\r\n"));
  EXPECT_THAT(text, HasSubstr("Content-Length: 20\r\n"));
}

TEST(H1Server, AsksAWaitingClientToGoOn) {
  auto const text =
      answer("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(text, EndsWith("hi."));
}

TEST(H1Server, EndsAfterAnsweringAWaitingClientUnread) {
  auto const text = answer(
      "POST /unread HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(text, EndsWith("unread"));
}

TEST(H1Server, TakesUnreadContentOffTheStream) {
  auto const text = answer(
      "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
      "GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(text, EndsWith("2 GET http a:80/next ."));
}

TEST(H1Server, ResolvesAbsoluteForm) {
  auto const text = answer("GET https://B.test:444/x HTTP/1.1\r\nHost: other\r\n\r\n");
  EXPECT_THAT(text, EndsWith("1 GET https b.test:444/x ."));
  EXPECT_THAT(answer("GET http://b.test?q HTTP/1.1\r\nHost: b.test\r\n\r\n"),
              HasSubstr("GET http b.test:80"));
}

TEST(H1Server, SaysWhatIsWrongWithARequest) {
  EXPECT_THAT(answer("\x01\x02\x03nonsense"), HasSubstr("400 Bad Request"));
  EXPECT_THAT(answer("GET / HTTP/1.1\r\n\r\n"), HasSubstr("no valid Host field"));
  EXPECT_THAT(answer("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(answer("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), HasSubstr("505"));
  EXPECT_THAT(answer("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(kHeadBytesMax, 'x')),
              HasSubstr("431"));
  EXPECT_THAT(answer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              HasSubstr("400"));
  EXPECT_THAT(answer("GET / HTTP/1.1\r\nHost: a\r\n\r\n", {.explicit_proxy = true}),
              HasSubstr("this is a proxy"));
  EXPECT_THAT(answer("CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n", {.explicit_proxy = true}),
              HasSubstr("400"));
  EXPECT_THAT(answer("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"),
              HasSubstr("this listener is not a proxy: use the address of --proxy"));
  for (bool const explicit_proxy : {false, true}) {
    EXPECT_THAT(answer("GET ftp://a.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n",
                       {.explicit_proxy = explicit_proxy}),
                HasSubstr("neither a path nor an http or https URL"));
  }
}

TEST(H1Server, BreaksTheConnectionWhenAHandlerFails) {
  EXPECT_EQ(answer("GET /broken HTTP/1.1\r\nHost: a\r\n\r\n"), "");
}

/// Sends a body that only the close ends, and breaks off unless it is `whole`.
class BrokenOff final : public Handler {
 public:
  static constexpr std::size_t kBodyBytes = 1 << 20;
  static constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\n\r\n";

  Task<void> serve(const ExchangeContext&, const RequestHead&, BodyReader&,
                   ResponseWriter& writer) override {
    (void)co_await writer.send_head({.status = 200, .reason = "OK"});
    std::string const body(kBodyBytes, 'c');
    auto const sent = co_await writer.write(bytes_of(body));
    broken_off = true;
    if (!sent) co_return sent;
    if (whole) co_return co_await writer.finish({});
    co_return fail(std::make_error_code(std::errc::connection_aborted));
  }

  bool whole = false;
  bool broken_off = false;
};

/// The server's socket holds much of the response, the client's not all of it.
class H1CutResponse : public testing::Test {
 protected:
  H1CutResponse() {
    ends.server->socket().set_option(net::socket_base::send_buffer_size(1 << 20));
    ends.client->socket().set_option(net::socket_base::receive_buffer_size(256 << 10));
    ends.spawn([this]() -> awaitable<void> {
      (void)co_await serve_h1(*ends.server, info, handler, deadline, options, {});
      ends.server->close();
    });
  }

  awaitable<void> ask() {
    (void)co_await ends.client->write(bytes_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  }
  /// Reads, more slowly than the server sends. False at the end.
  awaitable<bool> read_a_little() {
    std::array<std::byte, 16'384> buffer;
    auto const count = co_await ends.client->read_some(buffer);
    if (!count) end = count.error();
    received_bytes += count.value_or(0);
    co_await net::post(ends.client->socket().get_executor(), net::deferred);
    co_return count.value_or(0) > 0;
  }

  Loopback ends;
  BrokenOff handler;
  ConnectionInfo const info{.id = 1};
  Deadline deadline;
  H1ServerOptions const options{};
  std::size_t received_bytes = 0;
  std::error_code end;  // of the client's reads
};

TEST_F(H1CutResponse, ArrivesBeforeItsReset) {
  ends.spawn([this]() -> awaitable<void> {
    co_await ask();
    while (co_await read_a_little()) continue;
  });
  ends.run();
  EXPECT_EQ(received_bytes, BrokenOff::kHead.size() + BrokenOff::kBodyBytes);
  EXPECT_EQ(end, std::errc::connection_reset);
}

TEST_F(H1CutResponse, WaitsForNoClientThatIsGone) {
  ends.spawn([this]() -> awaitable<void> {
    co_await ask();
    while (co_await read_a_little() && !handler.broken_off) continue;
    ends.client->close();
  });
  ends.run();
  EXPECT_TRUE(handler.broken_off);
  EXPECT_LT(received_bytes, BrokenOff::kBodyBytes);
}

TEST_F(H1CutResponse, ThatIsWholeArrivesWhateverTheClientSendsBehindItsRequest) {
  handler.whole = true;
  ends.spawn([this]() -> awaitable<void> {
    co_await ask();
    std::string const unread(64 << 10, 'x');  // the server reads less at once
    (void)co_await ends.client->write(bytes_of(unread));
    while (co_await read_a_little()) continue;
    ends.client->close();
  });
  ends.run();
  EXPECT_EQ(received_bytes, BrokenOff::kHead.size() + BrokenOff::kBodyBytes);
  EXPECT_FALSE(end) << end.message();
}

TEST(H1Server, HandsTheTunnelOverWithWhatFollowed) {
  Loopback ends;
  Echo echo;
  ConnectionInfo const info{.id = 1};
  Deadline deadline;
  H1ServerOptions const options{.explicit_proxy = true};
  std::optional<H1Tunnel> tunnel;
  std::string received;
  ends.spawn([&]() -> awaitable<void> {
    auto result = co_await serve_h1(*ends.server, info, echo, deadline, options, {});
    tunnel = std::move(result.value());
    ends.server->close();
  });
  ends.spawn([&]() -> awaitable<void> {
    (void)co_await ends.client->write(
        bytes_of("CONNECT A.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n\x16hello"));
    received = co_await Loopback::read_all(*ends.client);
  });
  ends.run();
  ASSERT_TRUE(tunnel);
  EXPECT_EQ(tunnel->authority.host, "a.test");
  EXPECT_EQ(tunnel->authority.port, 443);
  EXPECT_EQ(text_of(tunnel->early), "\x16hello");
  EXPECT_EQ(received, "HTTP/1.1 200 Connection established\r\n\r\n");
}

}  // namespace
}  // namespace reprise
