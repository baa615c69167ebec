#include "proxy/record/origin_connection.h"

#include <gmock/gmock.h>

#include <boost/asio/post.hpp>

#include "proxy/http/h2_server.h"
#include "proxy/http/web_socket.h"
#include "tests/proxy/record/recorded_session.h"

namespace reprise {
namespace {

/// A connection to an origin that is memory.
class OriginConnectionTest : public testing::Test {
 protected:
  using Part = std::function<awaitable<void>()>;

  void connect(const std::string& alpn) {
    auto ends = MemoryStream::make_pair(context_);
    origin = std::move(ends.second);
    connection = make_origin_connection(std::move(ends.first), alpn, info);
    spawn(context_, connection->run());
  }
  /// Plays both parts to their ends. What is left waiting fails the test.
  void play(const Part& of_origin, const Part& of_proxy) {
    context_.restart();
    spawn(context_, of_origin());
    spawn(context_, of_proxy());
    context_.poll();
    EXPECT_TRUE(context_.stopped()) << "somebody waits for what never comes";
    connection->close();
    origin->close();
    context_.poll();
  }
  Part origin_answers(std::string wire) {
    return [this, wire]() -> awaitable<void> {
      seen = co_await read_through(*origin, "\r\n\r\n");
      (void)co_await origin->write(bytes_of(wire));
    };
  }
  /// Asks without content, and reads the answer to its end.
  Task<std::string> ask(RequestHead head) {
    auto const exchange = connection->begin();
    if (auto const sent = co_await exchange->send_head(head, false); !sent) {
      co_return fail(sent.error());
    }
    if (auto const sent = co_await exchange->finish({}); !sent) co_return fail(sent.error());
    auto const got = co_await exchange->read_head();
    if (!got) co_return fail(got.error());
    std::string content;
    while (!exchange->body().finished()) {
      auto const piece = co_await exchange->body().read();
      if (!piece) co_return fail(piece.error());
      content += text_of(*piece);
    }
    co_return content;
  }
  void exchange(const std::string& wire) {
    play(origin_answers(wire), [this]() -> awaitable<void> { answer = co_await ask(get); });
  }

  net::io_context context_;
  std::unique_ptr<MemoryStream> origin;
  ConnectionInfo info{.id = 1};
  std::unique_ptr<OriginConnection> connection;
  RequestHead get{.method = "GET", .host = "a.test", .port = 80, .target = "/"};
  Result<std::string> answer;
  std::string seen;
};

TEST_F(OriginConnectionTest, IsAvailableAgainBehindAWholeExchange) {
  connect("http/1.1");
  EXPECT_TRUE(connection->available());
  bool available = false;
  play(origin_answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), [&]() -> awaitable<void> {
    answer = co_await ask(get);
    available = connection->available();
    EXPECT_FALSE(connection->over());
  });
  EXPECT_EQ(answer, "ok");
  EXPECT_TRUE(available);
}

TEST_F(OriginConnectionTest, IsOverBehindAnAnswerThatSaysSo) {
  for (const char* const wire :
       {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n"}) {
    connect("http/1.1");
    exchange(wire);
    EXPECT_TRUE(answer) << wire;
    EXPECT_TRUE(connection->over()) << wire;
    EXPECT_TRUE(origin->peer_ended());
  }
}

TEST_F(OriginConnectionTest, IsOverWhenTheAnswerCameBeforeTheRequestWasWhole) {
  connect("http/1.1");
  std::vector<HeaderView> const fields{{"Content-Length", "5"}};
  get.headers = fields;
  play(origin_answers("HTTP/1.1 413 Enough\r\nContent-Length: 0\r\n\r\n"),
       [this]() -> awaitable<void> {
         auto const exchange = connection->begin();
         EXPECT_TRUE(co_await exchange->send_head(get, true));
         EXPECT_TRUE(co_await exchange->read_head());
         EXPECT_TRUE(exchange->body().finished());
       });
  EXPECT_TRUE(connection->over());
}

TEST_F(OriginConnectionTest, IsNoMoreUseWhenTheOriginEndsOrSaysSomethingUnasked) {
  for (bool const ends : {false, true}) {
    connect("http/1.1");
    play(
        [&]() -> awaitable<void> {
          if (ends) co_return co_await origin->shutdown();
          (void)co_await origin->write(bytes_of("HTTP/1.1 408 Too Late\r\n\r\n"));
        },
        []() -> awaitable<void> { co_return; });
    EXPECT_FALSE(connection->available());
    EXPECT_TRUE(connection->over());
  }
}

TEST_F(OriginConnectionTest, IsIdleOnlyWithoutAnExchange) {
  for (std::string const alpn : {"http/1.1", "h2"}) {
    SCOPED_TRACE(alpn);
    connect(alpn);
    play([]() -> awaitable<void> { co_return; },
         [&]() -> awaitable<void> {
           EXPECT_TRUE(connection->idle());
           auto exchange = connection->begin();
           EXPECT_FALSE(connection->idle());
           EXPECT_EQ(connection->available(), alpn == "h2") << "it carries many at once";
           exchange.reset();
           EXPECT_EQ(connection->idle(), alpn == "h2");
           connection->close();
           EXPECT_FALSE(connection->idle());
           co_return;
         });
  }
}

TEST_F(OriginConnectionTest, SaysAnAnswerHasBegunAtItsFirstByte) {
  for (std::string const wire : {"", "H"}) {
    connect("http/1.1");
    play(
        [&]() -> awaitable<void> {
          (void)co_await read_through(*origin, "\r\n\r\n");
          (void)co_await origin->write(bytes_of(wire));
          origin->abort();
        },
        [&]() -> awaitable<void> {
          auto const exchange = connection->begin();
          EXPECT_TRUE(co_await exchange->send_head(get, false));
          EXPECT_FALSE(co_await exchange->read_head());
          EXPECT_EQ(exchange->response_started(), !wire.empty());
        });
  }
}

TEST_F(OriginConnectionTest, WritesTheRequestOfAnH2ClientAsHttp11Needs) {
  connect("http/1.1");
  std::vector<HeaderView> const fields{
      {"cookie", "a=1"}, {"accept", "*/*"}, {"cookie", "b=2"}, {"x", "y"}};
  get.version = HttpVersion::kH2;
  get.headers = fields;
  get.port = 8080;
  play(
      [this]() -> awaitable<void> {
        seen = co_await read_through(*origin, "0\r\n\r\n");
        (void)co_await origin->write(bytes_of("HTTP/1.1 204 No Content\r\n\r\n"));
      },
      [this]() -> awaitable<void> {
        auto const exchange = connection->begin();
        EXPECT_TRUE(co_await exchange->send_head(get, true));
        EXPECT_TRUE(co_await exchange->write(bytes_of("data")));
        EXPECT_TRUE(co_await exchange->finish({}));
        EXPECT_TRUE(co_await exchange->read_head());
      });
  EXPECT_EQ(seen,
            "GET / HTTP/1.1\r\nHost: a.test:8080\r\ncookie: a=1; b=2\r\naccept: */*\r\nx: y\r\n"
            "Transfer-Encoding: chunked\r\n\r\n4\r\ndata\r\n0\r\n\r\n");
}

TEST_F(OriginConnectionTest, ChecksTheProofOfAWebSocketThatItAskedForItself) {
  for (bool const right : {true, false}) {
    connect("http/1.1");
    get.version = HttpVersion::kH2;
    get.protocol = "websocket";
    Result<ResponseHead> got;
    play(
        [&]() -> awaitable<void> {
          seen = co_await read_through(*origin, "\r\n\r\n");
          constexpr std::string_view kName = "Sec-WebSocket-Key: ";
          auto const at = seen.find(kName) + kName.size();
          auto const key = seen.substr(at, seen.find('\r', at) - at);
          auto const proof = web_socket_accept(right ? key : "another");
          (void)co_await origin->write(bytes_of(
              "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " + proof + "\r\n\r\n"));
        },
        [&]() -> awaitable<void> {
          auto const exchange = connection->begin();
          EXPECT_TRUE(co_await exchange->send_head(get, false));
          got = co_await exchange->read_head();
        });
    EXPECT_EQ(got.has_value(), right);
    if (!right) EXPECT_EQ(got.error(), h1_errc::not_http);
  }
}

/// An HTTP/2 origin that answers everything with some text.
class H2OriginTest : public OriginConnectionTest {
 protected:
  class Site final : public Handler {
   public:
    Task<void> serve(const ExchangeContext&, const RequestHead&, BodyReader&,
                     ResponseWriter& writer) override {
      co_return co_await send_text(writer, 200, kText);
    }
  };
  static constexpr std::string_view kText = "as it is";

  H2OriginTest() {
    get.version = HttpVersion::kH2;
    get.scheme = Scheme::kHttps;
    get.port = 443;
  }
  Part serves() {
    return [this]() -> awaitable<void> {
      ConnectionInfo served{.id = 2};
      Deadline deadline;
      Site site;
      (void)co_await serve_h2(*origin, served, site, deadline, {});
      origin->close();
    };
  }
  Part asks_and_closes() {
    return [this]() -> awaitable<void> {
      answer = co_await ask(get);
      connection->close();
    };
  }
};

TEST_F(H2OriginTest, CarriesManyExchangesAtOnce) {
  connect("h2");
  int whole = 0;
  int under_way = 3;
  play(serves(), [&]() -> awaitable<void> {
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(connection->available());
      spawn(context_, [](auto& self, int& done, int& left) -> awaitable<void> {
        done += co_await self.ask(self.get) == std::string(kText);
        if (--left == 0) self.connection->close();
      }(*this, whole, under_way));
    }
    co_return;
  });
  EXPECT_EQ(whole, 3);
  EXPECT_TRUE(connection->over());
}

TEST_F(H2OriginTest, ThatResetsAtEachByteGivesAllOrAnError) {
  connect("h2");
  play(serves(), asks_and_closes());
  ASSERT_EQ(answer, kText);
  auto const bytes = origin->bytes_written();
  std::size_t failed = 0;
  for (std::uint64_t cut = 0; cut < bytes && !HasFailure(); ++cut) {
    SCOPED_TRACE(cut);
    connect("h2");
    origin->reset_after(cut);
    play(serves(), asks_and_closes());
    if (answer) EXPECT_EQ(*answer, kText);
    failed += !answer;
    EXPECT_TRUE(connection->over());
  }
  EXPECT_GT(failed, bytes / 2);
}

TEST_F(H2OriginTest, ThatEndsWhileItIsIdleIsNoMoreUse) {
  connect("h2");
  EXPECT_TRUE(connection->available());
  play([this]() -> awaitable<void> { co_await origin->shutdown(); },
       [this]() -> awaitable<void> {
         co_await net::post(context_, net::deferred);
         EXPECT_FALSE(connection->available());
       });
  EXPECT_TRUE(connection->over());
}

}  // namespace
}  // namespace reprise
