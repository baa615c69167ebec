#include "proxy/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "proxy/http/event.h"
#include "proxy/tls/server_context.h"
#include "tests/proxy/http/loopback.h"
#include "tests/proxy/tls/client_hello_builder.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using testing::EndsWith;

/// Gives large answers, or holds a small one back until it is released.
class Site final : public HandlerFactory {
 public:
  class SiteHandler final : public ConnectionHandler {
   public:
    explicit SiteHandler(Site& site) : site_(site) {}
    awaitable<TlsPlan> plan_tls(const ConnectionInfo&, const ClientHello&) override {
      co_return TlsPlan{};
    }
    Task<void> serve(const ExchangeContext&, const RequestHead& head, BodyReader&,
                     ResponseWriter& writer) override {
      ++site_.started;
      if (head.target == "/held") co_await site_.held.wait();
      std::string const text = head.target == "/large" ? std::string(64 << 20, 'x') : "small";
      co_return co_await send_text(writer, 200, text);
    }
    void close() override { site_.held.set(); }

   private:
    Site& site_;
  };
  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo&) override {
    return std::make_unique<SiteHandler>(*this);
  }

  Event held;
  int started = 0;
};

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest()
      : connection(std::move(ends.server->socket()), 1, Entry::kTransparent,
                   {.factory = site,
                    .tls = nullptr,
                    .minters = nullptr,
                    .failed_handshakes = failed_handshakes,
                    .told_no_proxy = &told_no_proxy}) {
    ends.spawn(connection.run());
  }
  void send(const std::string& text) {
    ends.spawn(
        [this, text]() -> awaitable<void> { (void)co_await ends.client->write(bytes_of(text)); });
  }
  void read_to_the_end() {
    ends.spawn([this]() -> awaitable<void> {
      received = co_await Loopback::read_all(*ends.client);
      ends.client->close();
    });
  }
  void let_run_until(const std::function<bool()>& done) {
    while (!done()) ASSERT_GT(ends.context.run_one_for(std::chrono::seconds(20)), 0U);
  }

  static std::string get(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: a.test\r\n\r\n";
  }

  Loopback ends;
  Site site;
  FailedHandshakes failed_handshakes;
  std::atomic_flag told_no_proxy;
  Connection connection;
  std::string received;
};

TEST_F(ConnectionTest, IsOverdueWhenItsClientStopsReading) {
  send(get("/large"));
  let_run_until([this] { return site.started == 1; });
  while (ends.context.poll_one() > 0) continue;  // the socket takes no more
  auto const start = std::chrono::steady_clock::now();
  auto const later = start + Connection::kStallTimeout + std::chrono::seconds(2);
  EXPECT_FALSE(connection.is_overdue(start));
  EXPECT_FALSE(connection.is_overdue(start + Connection::kStallTimeout));
  EXPECT_TRUE(connection.is_overdue(later));
  std::size_t taken = 0;
  ends.spawn([&]() -> awaitable<void> {
    std::vector<std::byte> buffer(64 << 10);
    while (taken < 32 << 20) taken += (co_await ends.client->read_some(buffer)).value_or(1 << 30);
  });
  let_run_until([&] { return taken >= 32 << 20; });
  EXPECT_FALSE(connection.is_overdue(later));  // it moved
  ends.client->close();
  ends.run();
}

TEST_F(ConnectionTest, IsNotOverdueWhileItsHandlerTakesLong) {
  send(get("/held"));
  let_run_until([this] { return site.started == 1; });
  auto const start = std::chrono::steady_clock::now();
  EXPECT_FALSE(connection.is_overdue(start));
  EXPECT_FALSE(connection.is_overdue(start + 2 * Connection::kStallTimeout));
  site.held.set();
  read_to_the_end();
  ends.client->socket().shutdown(tcp::socket::shutdown_send);
  ends.run();
  EXPECT_THAT(received, EndsWith("small"));
}

TEST_F(ConnectionTest, TellsOfAClientThatTakesItForAProxy) {
  send("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
  read_to_the_end();
  ends.run();
  EXPECT_THAT(received, EndsWith("this listener is not a proxy: use the address of --proxy\n"));
  EXPECT_TRUE(told_no_proxy.test());
}

TEST(LeafNames, CoverAHostAlsoOfACertificateWithTooManyNames) {
  LeafNames leaf;
  for (std::size_t i = 0; i < 2 * LeafMinter::kNamesMax; ++i) {
    leaf.names.push_back("host" + std::to_string(i) + ".test");
  }
  cover(leaf, "another.test");
  cover(leaf, "third.test");
  EXPECT_EQ(leaf.names.size(), LeafMinter::kNamesMax);
  EXPECT_TRUE(covers(leaf, "another.test"));
  EXPECT_TRUE(covers(leaf, "third.test"));
  EXPECT_TRUE(covers(leaf, "host0.test"));
}

TEST_F(ConnectionTest, EndsAtOnceWhenNothingRuns) {
  connection.end();
  read_to_the_end();
  ends.run();
  EXPECT_EQ(received, "");
}

TEST_F(ConnectionTest, EndsBetweenRequests) {
  send(get("/small"));
  let_run_until([this] { return site.started == 1; });
  while (ends.context.poll_one() > 0) continue;
  connection.end();
  read_to_the_end();
  ends.run();
  EXPECT_THAT(received, EndsWith("small"));
}

TEST_F(ConnectionTest, FinishesWhatRunsAndNothingBehindIt) {
  send(get("/held") + get("/small"));
  let_run_until([this] { return site.started == 1; });
  connection.end();
  site.held.set();
  read_to_the_end();
  ends.run();
  EXPECT_THAT(received, EndsWith("small"));
  EXPECT_EQ(site.started, 1);
}

/// A connection on a listener with TLS whose client sends one ClientHello.
class RefusedClientHello : public testing::Test {
 protected:
  std::string answer_to(const ByteString& hello) {
    Loopback ends;
    Site site;
    Connection connection(std::move(ends.server->socket()), 1, Entry::kTransparent,
                          {.factory = site,
                           .tls = context_.get(),
                           .minters = &minters_,
                           .failed_handshakes = failed_handshakes_});
    std::string received;
    ends.spawn(connection.run());
    ends.spawn([&]() -> awaitable<void> {
      (void)co_await ends.client->write(Bytes(hello));
      received = co_await Loopback::read_all(*ends.client);
      ends.client->close();
    });
    ends.run();
    return received;
  }
  static std::string alert(char description) {
    return std::string("\x15\x03\x03\x00\x02\x02", 6) + description;
  }

  FailedHandshakes failed_handshakes_;

 private:
  ScratchFolder folder_;
  CertificateAuthority authority_ = CertificateAuthority::open_or_create(folder_.path()).value();
  LeafMinters minters_ = LeafMinters::create({&authority_, 1}).value();
  SslContextPtr context_ = make_server_context().value();
};

TEST_F(RefusedClientHello, IsAnsweredWithAnAlertAndCounted) {
  EXPECT_EQ(answer_to(record(handshake_message(2, {}))), alert(SSL_AD_DECODE_ERROR));
  EXPECT_EQ(answer_to(record(hello_message({.cipher_suites = {}}))), alert(SSL_AD_DECODE_ERROR));
  HelloParts const named{.extensions = {{0, server_name_extension("bad:name")}}};
  EXPECT_EQ(answer_to(record(hello_message(named))), alert(SSL_AD_UNRECOGNIZED_NAME));
  EXPECT_EQ(failed_handshakes_.counts().malformed, 3U);
  EXPECT_EQ(failed_handshakes_.counts().other, 0U);
}

TEST_F(RefusedClientHello, IsAlsoOneWithoutACertificateForIt) {
  EXPECT_EQ(answer_to(record(hello_message(small_hello()))), alert(SSL_AD_INTERNAL_ERROR));
  EXPECT_EQ(failed_handshakes_.counts().malformed, 0U);
  EXPECT_EQ(failed_handshakes_.counts().other, 1U);
}

}  // namespace
}  // namespace reprise
