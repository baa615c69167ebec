#include "proxy/quic/quic_connection.h"

#include "proxy/quic/quic_error.h"
#include "tests/proxy/http/h3/h3_pair.h"

namespace reprise {
namespace {

/// A connection whose application is HTTP/3.
class QuicConnectionTest : public testing::Test {
 protected:
  H3Pair pair;
};

TEST_F(QuicConnectionTest, SendsAtMostThreeTimesWhatAnUnprovenAddressSent) {
  pair.open();
  pair.to_server();
  auto const received = pair.bytes_to_server;
  ASSERT_GE(received, 1200u);
  // Nothing of the client arrives any more, and the server's timers run out again and again.
  for (int i = 0; i < 100 && !pair.server->over(); ++i) {
    while (true) {
      std::vector<std::byte> out(QuicConnection::kBurstBytesMax);
      auto const burst = pair.server->write(out, pair.now);
      if (burst.size_bytes == 0) break;
      pair.bytes_to_client += burst.size_bytes;
    }
    if (pair.server->due() == QuicConnection::TimePoint::max()) break;
    pair.now = std::max(pair.now, pair.server->due());
    pair.server->pass(pair.now);
  }
  EXPECT_GT(pair.bytes_to_client, 0u);
  EXPECT_LE(pair.bytes_to_client, 3 * received);
  EXPECT_TRUE(pair.server->over());  // the handshake ran out of time
}

TEST_F(QuicConnectionTest, EndsAnIdleConnectionWithoutAWord) {
  pair.quic_options.idle_timeout = std::chrono::seconds(30);
  auto& client = pair.open();
  auto const stream = client.get("/early");
  pair.run([&] { return client.answer(stream).complete; });
  pair.run();
  auto const sent = pair.bytes_to_client;
  pair.now += std::chrono::seconds(31);
  pair.server->pass(pair.now);
  EXPECT_TRUE(pair.server->over());
  EXPECT_TRUE(pair.server->final_packet().empty());
  pair.to_client();
  EXPECT_EQ(pair.bytes_to_client, sent);
}

TEST_F(QuicConnectionTest, RefusesAClientWithoutHttp3) {
  auto& client = pair.open({.alpn = "other"});
  pair.run([&] { return client.closed(); });
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(client.close_code(), 0x100 + 120);  // no_application_protocol
}

TEST_F(QuicConnectionTest, RefusesAHostThatIsNotServed) {
  pair.refuses_names = true;
  auto& client = pair.open({.server_name = "Other.test"});
  pair.run([&] { return client.closed(); });
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(client.close_code() & 0x100, 0x100u);
  EXPECT_EQ(pair.asked_name, "other.test");
}

TEST_F(QuicConnectionTest, IgnoresDamagedDatagrams) {
  auto& client = pair.open();
  auto const stream = client.get("/download");
  std::size_t damaged = 0;
  pair.run([&] {
    // A copy of each datagram with one bit flipped comes before it.
    for (auto datagram : client.write(pair.now)) {
      auto broken = datagram;
      broken[damaged % broken.size()] ^= std::byte(1 << (damaged % 8));
      ++damaged;
      if (pair.server) pair.give(broken);
      pair.give(datagram);
    }
    return client.answer(stream).complete;
  });
  EXPECT_EQ(client.answer(stream).body.size(), Site::kDownloadBytes);
  EXPECT_GT(damaged, 50u);
}

/// The kernel refuses a burst with packets that are longer than the device's MTU, all of it.
TEST_F(QuicConnectionTest, SendsProbesOfThePathsMtuAlone) {
  pair.path_bytes_max = 1200;
  std::size_t probes = 0;
  pair.on_burst = [this, &probes](const QuicBurst& burst) {
    if (burst.segment_bytes <= pair.path_bytes_max) return;
    ++probes;
    EXPECT_EQ(burst.size_bytes, burst.segment_bytes);
  };
  auto& client = pair.open();
  auto const stream = client.get("/download");
  pair.run([&] { return client.answer(stream).complete; });
  pair.on_burst = nullptr;
  EXPECT_EQ(client.answer(stream).body.size(), Site::kDownloadBytes);
  EXPECT_GT(probes, 0u);
}

TEST_F(QuicConnectionTest, TellsTheAlertOfAClientThatRefuses) {
  EXPECT_EQ(client_alert_of(quic_closed_with(0x100 + 48)), 48);
  EXPECT_EQ(client_alert_of(quic_closed_with(1)), std::nullopt);
  EXPECT_EQ(client_alert_of(quic_error(NGTCP2_ERR_DRAINING)), std::nullopt);
}

}  // namespace
}  // namespace reprise
