#include "proxy/quic/quic_endpoint.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <deque>

#include "proxy/http/h3/h3_server.h"
#include "proxy/tls/certificate_authority.h"
#include "tests/proxy/http/h2_site.h"
#include "tests/proxy/quic/quic_client.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

/// A client's socket on loopback.
class Peer {
 public:
  Peer() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    QuicClient::Endpoint any(boost::asio::ip::address_v4::loopback(), 0);
    EXPECT_EQ(::bind(socket_.get(), any.data(), static_cast<socklen_t>(any.size())), 0);
    auto length = static_cast<socklen_t>(any.capacity());
    EXPECT_EQ(::getsockname(socket_.get(), any.data(), &length), 0);
    at_ = any;
  }
  const QuicClient::Endpoint& at() const { return at_; }
  void send(Bytes bytes, const QuicClient::Endpoint& to) const {
    EXPECT_EQ(::sendto(socket_.get(), bytes.data(), bytes.size(), 0, to.data(),
                       static_cast<socklen_t>(to.size())),
              static_cast<ssize_t>(bytes.size()));
  }
  /// What is there; empty: nothing.
  std::vector<std::byte> receive() const {
    std::vector<std::byte> bytes(65536);
    auto const size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  }

 private:
  Descriptor socket_;
  QuicClient::Endpoint at_;
};

class QuicEndpointTest : public testing::Test, private QuicApplications {
 protected:
  QuicEndpointTest() {
    authority_ = std::move(*CertificateAuthority::open_or_create(folder_.path()));
    minter_ = std::move(*LeafMinter::create(*authority_));
    credentials_ = std::move(*GnutlsCredentials::create(*minter_));
    auto socket = QuicSocket::bind({boost::asio::ip::address_v4::loopback(), 0}, false);
    EXPECT_TRUE(socket);
    QuicApplications& applications = *this;
    endpoint.emplace(context, std::move(*socket), QuicOptions{}, *credentials_, applications);
    endpoint->start();
  }
  ~QuicEndpointTest() override {
    endpoint->stop();
    context.restart();
    context.run();
  }

  const QuicSocket::Endpoint& server() const { return endpoint->bound(); }
  /// Serves what has arrived.
  void serve() {
    context.restart();
    context.poll();
  }
  /// Lets the server alone talk until the client's handshake is done.
  void listen(QuicClient& client, const Peer& peer) {
    for (int round = 0; round < 1000 && !client.handshake_done(); ++round) {
      serve();
      for (auto bytes = peer.receive(); !bytes.empty(); bytes = peer.receive()) {
        client.read(bytes, client_now());
      }
      context.restart();
      context.run_one_for(std::chrono::milliseconds(1));  // the server's packets are paced
    }
  }
  QuicClient::TimePoint client_now() const { return std::chrono::steady_clock::now() + ahead; }
  /// Lets a client talk over its socket until `done`.
  void talk(QuicClient& client, const Peer& peer, const std::function<bool()>& done) {
    for (int round = 0; round < 20'000 && !done(); ++round) {
      auto const now = client_now();
      for (auto const& datagram : client.write(now)) peer.send(datagram, server());
      serve();
      auto bytes = peer.receive();
      if (bytes.empty()) {
        client.pass(now);
        context.restart();
        context.run_one_for(std::chrono::milliseconds(1));  // the server's packets are paced
        continue;
      }
      for (; !bytes.empty(); bytes = peer.receive()) client.read(bytes, now);
    }
  }

  net::io_context context;
  std::optional<QuicEndpoint> endpoint;
  Site site;
  /// How far the clients' clock is ahead of the server's: what it skipped instead of waiting.
  std::chrono::steady_clock::duration ahead{};

 private:
  struct Client {
    ConnectionInfo info{.id = 1};
    std::unique_ptr<H3Server> server;
  };
  QuicApplication* open(const QuicConnection::Endpoint&, const QuicConnection::Endpoint&) override {
    auto& client = clients_.emplace_back();
    client.server =
        std::make_unique<H3Server>(context.get_executor(), client.info, site, H3ServerOptions{});
    net::co_spawn(
        context, [&client]() -> awaitable<void> { (void)co_await client.server->run(); },
        [](std::exception_ptr broken) {
          if (broken) std::rethrow_exception(broken);
        });
    return client.server.get();
  }
  void attach(QuicApplication&, QuicConnection& connection) override {
    clients_.back().server->attach(connection, [this](const std::string& name) {
      return *credentials_->chain({.names = {name}});
    });
  }

  ScratchFolder folder_;
  std::optional<CertificateAuthority> authority_;
  std::unique_ptr<LeafMinter> minter_;
  std::unique_ptr<GnutlsCredentials> credentials_;
  std::deque<Client> clients_;
};

std::uint8_t first_octet(const std::vector<std::byte>& packet) {
  return packet.empty() ? 0 : std::to_integer<std::uint8_t>(packet.front());
}

TEST_F(QuicEndpointTest, ServesOverSockets) {
  Peer const peer;
  QuicClient client({}, peer.at(), server(), std::chrono::steady_clock::now());
  auto const first = client.get("/download");
  auto const second = client.get("/early");
  talk(client, peer, [&] { return client.completed().size() == 2; });
  EXPECT_EQ(client.answer(first).body.size(), Site::kDownloadBytes);
  EXPECT_EQ(client.answer(second).body, "early");
  EXPECT_EQ(endpoint->connections(), 1u);
}

TEST_F(QuicEndpointTest, OffersItsVersionToUnknownOnes) {
  Peer const peer;
  // A long header of version 0x0a0a0a0a, with identifiers of 8 bytes.
  std::vector<std::byte> packet(1200, std::byte{0});
  std::vector<unsigned char> const head{0xc0, 10, 10, 10, 10, 8, 1, 2, 3, 4, 5, 6, 7, 8, 8};
  for (std::size_t i = 0; i < head.size(); ++i) packet[i] = std::byte(head[i]);
  peer.send(packet, server());
  serve();
  auto const answer = peer.receive();
  ASSERT_GE(answer.size(), 4u + 7 + 16);
  EXPECT_EQ(std::vector(answer.begin() + 1, answer.begin() + 5),
            std::vector<std::byte>(4, std::byte{0}));
  EXPECT_EQ(std::vector(answer.end() - 4, answer.end()),
            (std::vector{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1}}));
  // Short ones get no answer: it would be longer than they are.
  peer.send(Bytes(packet).first(200), server());
  serve();
  EXPECT_TRUE(peer.receive().empty());
}

/// ngtcp2 0.12 decodes one with an identifier that is longer than any, and asserts that none is.
TEST_F(QuicEndpointTest, IgnoresOffersOfVersionsByClients) {
  Peer const peer;
  std::vector<std::byte> packet(100);
  packet[0] = std::byte{0x80};
  packet[5] = std::byte{NGTCP2_MAX_CIDLEN + 10};
  peer.send(packet, server());
  serve();
  EXPECT_TRUE(peer.receive().empty());
  QuicClient client({}, peer.at(), server(), std::chrono::steady_clock::now());
  auto const stream = client.get("/early");
  talk(client, peer, [&] { return client.answer(stream).complete; });
  EXPECT_EQ(client.answer(stream).body, "early");
}

TEST_F(QuicEndpointTest, ResetsConnectionsThatItDoesNotKnow) {
  Peer const peer;
  std::vector<std::byte> packet(100, std::byte{0x55});
  peer.send(packet, server());
  serve();
  auto const answer = peer.receive();
  EXPECT_GE(answer.size(), 21u);
  EXPECT_LT(answer.size(), packet.size());
  EXPECT_EQ(first_octet(answer) & 0xc0, 0x40);
  for (unsigned i = 0; i < 2 * QuicEndpoint::kResetsPerSecond; ++i) peer.send(packet, server());
  unsigned answers = 0;
  serve();
  while (!peer.receive().empty()) ++answers;
  EXPECT_EQ(answers, QuicEndpoint::kResetsPerSecond - 1);
}

TEST_F(QuicEndpointTest, ValidatesAddressesWhileManyHandshakesAreUnderWay) {
  auto const now = std::chrono::steady_clock::now();
  std::deque<Peer> peers(QuicEndpoint::kTrustingHandshakesMax);
  for (Peer const& peer : peers) {
    QuicClient client({}, peer.at(), server(), now);
    for (auto const& datagram : client.write(now)) peer.send(datagram, server());
    serve();
  }
  EXPECT_EQ(endpoint->connections(), QuicEndpoint::kTrustingHandshakesMax);
  Peer const peer;
  QuicClient client({}, peer.at(), server(), now);
  for (auto const& datagram : client.write(now)) peer.send(datagram, server());
  serve();
  auto const retry = peer.receive();
  EXPECT_EQ(first_octet(retry) & 0xf0, 0xf0);
  EXPECT_EQ(endpoint->connections(), QuicEndpoint::kTrustingHandshakesMax);
  client.read(retry, now);
  auto const stream = client.get("/early");
  talk(client, peer, [&] { return client.answer(stream).complete; });
  EXPECT_EQ(client.answer(stream).body, "early");
}

TEST_F(QuicEndpointTest, TakesTheDatagramsOfAClientHelloInAnyOrder) {
  Peer const peer;
  QuicClient client({.long_hello = true}, peer.at(), server(), client_now());
  auto const hello = client.write(client_now());
  ASSERT_EQ(hello.size(), 2u);
  peer.send(hello[1], server());
  peer.send(hello[0], server());
  listen(client, peer);
  EXPECT_TRUE(client.handshake_done());
  auto const stream = client.get("/early");
  talk(client, peer, [&] { return client.answer(stream).complete; });
  EXPECT_EQ(client.answer(stream).body, "early");
  EXPECT_EQ(endpoint->connections(), 1u);
}

TEST_F(QuicEndpointTest, BeginsOnceTheLostBeginningOfAClientHelloIsSentAgain) {
  Peer const peer;
  QuicClient client({.long_hello = true}, peer.at(), server(), client_now());
  auto const hello = client.write(client_now());
  ASSERT_EQ(hello.size(), 2u);
  peer.send(hello[1], server());
  serve();
  EXPECT_TRUE(peer.receive().empty());
  EXPECT_EQ(endpoint->connections(), 0u);
  std::vector<std::vector<std::byte>> again;
  for (int timer = 0; timer < 10 && again.empty(); ++timer) {  // pacing has one, too
    ahead += client.due() - client_now();
    client.pass(client_now());
    again = client.write(client_now());
  }
  for (auto const& datagram : again) peer.send(datagram, server());
  listen(client, peer);
  EXPECT_TRUE(client.handshake_done());
}

TEST_F(QuicEndpointTest, ForgetsAFirstDatagramWithoutAHandshake) {
  Peer const peer;
  QuicClient client({}, peer.at(), server(), client_now());
  auto const hello = client.write(client_now());
  ASSERT_EQ(hello.size(), 1u);
  auto damaged = hello[0];
  damaged.back() ^= std::byte{1};
  peer.send(damaged, server());
  serve();
  EXPECT_TRUE(peer.receive().empty());
  EXPECT_EQ(endpoint->connections(), 0u);
  peer.send(hello[0], server());
  listen(client, peer);
  EXPECT_TRUE(client.handshake_done());
}

TEST_F(QuicEndpointTest, RefusesNewClientsOnceItEnds) {
  endpoint->refuse_new();
  Peer const peer;
  QuicClient client({}, peer.at(), server(), std::chrono::steady_clock::now());
  talk(client, peer, [&] { return client.closed(); });
  EXPECT_EQ(client.close_code(), std::uint64_t{NGTCP2_CONNECTION_REFUSED});
  EXPECT_EQ(endpoint->connections(), 0u);
}

}  // namespace
}  // namespace reprise
