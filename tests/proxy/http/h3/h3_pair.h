#pragma once

// A server of HTTP/3 and a client, connected in memory, with time of their own.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/http/h3/h3_server.h"
#include "proxy/tls/certificate_authority.h"
#include "tests/proxy/http/h2_site.h"
#include "tests/proxy/quic/quic_client.h"
#include "tests/scratch_folder.h"

namespace reprise {

class H3Pair : private QuicHost {
 public:
  using TimePoint = QuicConnection::TimePoint;
  /// Whether a datagram arrives; `index` counts those of its direction, from 0.
  using Arrives = std::function<bool(std::size_t index)>;

  H3Pair() {
    authority = std::move(*CertificateAuthority::open_or_create(folder.path()));
    minter = std::move(*LeafMinter::create(*authority));
    credentials = std::move(*GnutlsCredentials::create(*minter));
  }
  ~H3Pair() override { finish(); }

  /// Makes the client; the server follows from its first datagram.
  QuicClient& open(QuicClient::Options asked = {}) {
    client.emplace(std::move(asked), client_at, server_at, now);
    return *client;
  }

  /// Lets both talk until `done`, or until neither has anything to say. Time passes as they wait.
  void run(const std::function<bool()>& done = [] { return false; }) {
    constexpr int kRoundsMax = 20'000;
    for (int round = 0; round < kRoundsMax && !done(); ++round) {
      context.restart();
      context.poll();
      auto const moved = to_server() + to_client();
      if (done()) return;
      if (moved > 0) {
        now += std::chrono::milliseconds(1);
        continue;
      }
      context.restart();
      if (context.poll() > 0) continue;
      auto const next = std::min(client->due(), server ? server->due() : TimePoint::max());
      if (next == TimePoint::max() || next > now + patience) return;
      now = std::max(now, next);
      client->pass(now);
      if (server) server->pass(now);
    }
  }

  /// Ends the server's side, with every handler.
  void finish() {
    if (h3 != nullptr) h3->close();
    to_client();
    server.reset();
    context.restart();
    context.run();
    if (h3 != nullptr) EXPECT_TRUE(ended);
    EXPECT_EQ(site.started, site.ended);
    h3.reset();
  }

  std::size_t to_server() {
    std::size_t moved = 0;
    for (auto const& datagram : client->write(now)) {
      ++moved;
      bytes_to_server += datagram.size();
      if (arrives_at_server && !arrives_at_server(datagrams_to_server++)) continue;
      give(datagram);
    }
    return moved;
  }

  /// As the server's endpoint does with a datagram.
  void give(Bytes datagram) {
    if (!server && !accept(datagram)) return;
    server->read(datagram, 0, now);
  }

  std::size_t to_client() {
    std::size_t moved = 0;
    while (server && !server->over()) {
      auto const burst = server->write(out, now);
      if (burst.size_bytes == 0) break;
      if (on_burst) on_burst(burst);
      ++moved;
      Bytes rest = Bytes(out).first(burst.size_bytes);
      while (!rest.empty()) {
        auto const packet = rest.first(std::min(burst.segment_bytes, rest.size()));
        rest = rest.subspan(packet.size());
        deliver(packet);
      }
    }
    if (server && server->over() && !std::exchange(said_goodbye, true)) {
      deliver(server->final_packet());
    }
    return moved;
  }

  ScratchFolder folder;
  std::optional<CertificateAuthority> authority;
  std::unique_ptr<LeafMinter> minter;
  std::unique_ptr<GnutlsCredentials> credentials;
  net::io_context context;
  Site site;
  ConnectionInfo info{.id = 1};
  H3ServerOptions options;
  QuicOptions quic_options;
  bool refuses_names = false;
  std::string asked_name;
  std::function<void()> on_name;  ///< called in the middle of the handshake
  std::unique_ptr<H3Server> h3;
  std::unique_ptr<QuicConnection> server;
  std::optional<QuicClient> client;
  bool ended = false;
  std::error_code why;
  TimePoint now = std::chrono::steady_clock::now();
  /// Longer waits than this end run().
  std::chrono::seconds patience{20};
  Arrives arrives_at_server;
  Arrives arrives_at_client;
  /// Longer datagrams do not arrive at the client.
  std::size_t path_bytes_max = 65'535;
  std::function<void(const QuicBurst&)> on_burst;
  std::size_t datagrams_to_server = 0;
  std::size_t datagrams_to_client = 0;
  std::size_t bytes_to_server = 0;
  std::size_t bytes_to_client = 0;

 private:
  bool accept(Bytes datagram) {
    QuicConnection::Arrival arrival{.local = server_at, .client = client_at};
    if (ngtcp2_accept(&arrival.head, reinterpret_cast<const std::uint8_t*>(datagram.data()),
                      datagram.size()) != 0) {
      return false;
    }
    h3 = std::make_unique<H3Server>(context.get_executor(), info, site, options);
    net::co_spawn(
        context,
        [this]() -> awaitable<void> {
          why = (co_await h3->run()).error();
          ended = true;
        },
        [](std::exception_ptr broken) {
          if (broken) std::rethrow_exception(broken);
        });
    auto made = QuicConnection::accept(arrival, quic_options, *credentials, *this, *h3, now);
    EXPECT_TRUE(made);
    server = std::move(*made);
    h3->attach(*server, [this](const std::string& name) -> std::shared_ptr<const GnutlsChain> {
      asked_name = name;
      if (on_name) on_name();
      if (refuses_names) return nullptr;
      return *credentials->chain({.names = {name.empty() ? "unnamed.test" : name}});
    });
    return true;
  }

  void deliver(Bytes packet) {
    if (packet.empty()) return;
    bytes_to_client += packet.size();
    if (packet.size() > path_bytes_max) return;
    if (arrives_at_client && !arrives_at_client(datagrams_to_client++)) return;
    client->read(packet, now);
  }

  // QuicHost.
  void add_id(const ngtcp2_cid&) override {}
  void remove_id(const ngtcp2_cid&) override {}
  void reset_token(const ngtcp2_cid&,
                   std::span<std::uint8_t, NGTCP2_STATELESS_RESET_TOKENLEN> token) override {
    random(token);
  }
  void random(std::span<std::uint8_t> octets) override {
    gnutls_rnd(GNUTLS_RND_NONCE, octets.data(), octets.size());
  }
  void wake() override {}

  QuicConnection::Endpoint const client_at{net::ip::make_address("127.0.0.1"), 40'000};
  QuicConnection::Endpoint const server_at{net::ip::make_address("127.0.0.2"), 443};
  std::vector<std::byte> out = std::vector<std::byte>(QuicConnection::kBurstBytesMax + 2048);
  bool said_goodbye = false;
};

}  // namespace reprise
