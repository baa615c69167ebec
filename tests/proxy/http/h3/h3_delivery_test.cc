// What arrives first over HTTP/3: by priority, after a loss, and in how many round trips.

#include <gtest/gtest.h>

#include <deque>

#include "tests/proxy/http/delivery_orders.h"
#include "tests/proxy/http/h3/h3_pair.h"

namespace reprise {
namespace {

constexpr std::size_t kBodyBytes = 600'000;
constexpr std::size_t kInitialWindowBytes = 12'000;  // of ngtcp2: ten packets of 1200 bytes
constexpr std::size_t kPacketBytesMax = 1500;

class H3Delivery : public testing::Test {
 protected:
  H3Delivery() { store("/a", kBodyBytes); }

  void store(const std::string& path, std::size_t size_bytes) {
    StoredResponse::Parts parts;
    parts.head = {.status = 200};
    parts.body = Bytes(bytes_of(bodies_.emplace_back(size_bytes, 'b')));
    pair_.site.responses[path] = std::make_shared<StoredResponse>("GET", std::move(parts));
  }
  std::int64_t ask(const std::string& priority) {
    return priority.empty() ? pair_.client->get("/a")
                            : pair_.client->get("/a", {{"priority", priority}});
  }
  std::size_t received(std::int64_t stream) { return pair_.client->answer(stream).body.size(); }
  /// A connection on which a first request was answered: the window has grown a little.
  QuicClient& open() {
    auto& client = pair_.open();
    client.get("/early");
    pair_.run([&] { return client.completed().size() == 1; });
    return client;
  }

  std::deque<std::string> bodies_;
  H3Pair pair_;
};

class H3Orders : public H3Delivery, public testing::WithParamInterface<DeliveryOrder> {};

TEST_P(H3Orders, AreThoseOfHttp2) {
  auto& client = open();
  std::vector<std::int64_t> streams;
  for (auto const& priority : GetParam().priorities) streams.push_back(ask(priority));
  pair_.run([&] { return client.completed().size() == 1 + streams.size(); });
  std::vector<std::int64_t> expected{0};
  for (auto const position : GetParam().ends) expected.push_back(streams[position]);
  EXPECT_EQ(client.completed(), expected);
}

INSTANTIATE_TEST_SUITE_P(All, H3Orders, testing::ValuesIn(delivery_orders()), name_of_order);

TEST_F(H3Delivery, AnUrgentResponseOvertakesOneThatRuns) {
  auto& client = open();
  auto const running = ask("u=5");
  pair_.run([&] { return received(running) > 100'000; });
  auto const urgent = ask("u=1");
  pair_.run([&] { return client.completed().size() == 3; });
  EXPECT_EQ(client.completed(), (std::vector<std::int64_t>{0, urgent, running}));
}

TEST_F(H3Delivery, AnUpdateOvertakesWhatRuns) {
  auto& client = open();
  auto const running = ask("u=3");
  auto const waiting = ask("u=3");
  pair_.run([&] { return received(running) > 100'000; });
  EXPECT_EQ(received(waiting), 0u);
  client.update_priority(waiting, 1);
  pair_.run([&] { return client.completed().size() == 3; });
  EXPECT_EQ(client.completed(), (std::vector<std::int64_t>{0, waiting, running}));
}

/// The answer begins before the request has ended, which then ends without its content.
TEST_F(H3Delivery, AnAnswerToAnUnfinishedRequestIsWhole) {
  auto& client = open();
  auto const asked = client.ask(
      {{":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/a"}},
      std::string(8 << 20, 'u'));
  pair_.run([&] { return client.completed().size() == 2; });
  EXPECT_TRUE(client.answer(asked).complete);
  EXPECT_EQ(received(asked), kBodyBytes);
  EXPECT_FALSE(client.closed());
}

TEST_F(H3Delivery, AnUpdateIsTakenOfAnyRequestOfALongConnection) {
  store("/small", 10);
  auto& client = open();
  constexpr std::size_t kRequests = 300;  // more than may run at once
  for (std::size_t i = 0; i < kRequests; ++i) {
    client.get("/small");
    pair_.run([&] { return client.completed().size() == 2 + i; });
  }
  auto const running = ask("u=3");
  auto const waiting = ask("u=3");
  pair_.run([&] { return received(running) > 100'000; });
  client.update_priority(waiting, 1);
  pair_.run([&] { return client.completed().size() == 3 + kRequests; });
  EXPECT_FALSE(client.closed());
  EXPECT_EQ(client.completed()[1 + kRequests], waiting);
}

TEST_F(H3Delivery, AnUpdateHoldsBackWhatRuns) {
  auto& client = open();
  auto const running = ask("u=3");
  auto const next = ask("u=4");
  pair_.run([&] { return received(running) > 100'000; });
  client.update_priority(running, 7);
  pair_.run([&] { return client.completed().size() == 3; });
  EXPECT_EQ(client.completed(), (std::vector<std::int64_t>{0, next, running}));
}

TEST_F(H3Delivery, IncrementalResponsesOfOneUrgencyInterleave) {
  open();
  auto const first = ask("u=3, i");
  auto const second = ask("u=3, i");
  pair_.run([&] { return received(first) > 300'000; });
  EXPECT_GT(received(second), 200'000u);
}

/// Over TCP the second response would wait for the first one's packet to be sent again.
TEST_F(H3Delivery, ALostPacketOfOneStreamDoesNotHoldAnother) {
  store("/small", 5000);
  auto& client = open();
  pair_.run();  // until all is acknowledged
  auto const first = client.get("/small");
  auto const second = client.get("/small");
  auto const lost = pair_.datagrams_to_client + 1;
  pair_.arrives_at_client = [&](std::size_t index) { return index != lost; };
  pair_.run([&] { return client.answer(second).complete; });
  EXPECT_TRUE(client.answer(second).complete);
  EXPECT_LT(received(first), 5000u);
  pair_.run([&] { return client.answer(first).complete; });
  EXPECT_EQ(received(first), 5000u);
  pair_.arrives_at_client = nullptr;  // the pair outlives `lost`
}

/// One for the handshake and one for the request. HTTP/2 needs three: TCP's handshake, TLS's, and
/// one for the request (tests/e2e/first_byte_test.py).
TEST_F(H3Delivery, TheFirstByteComesInTheSecondRoundTrip) {
  auto& client = pair_.open();
  auto const stream = client.get("/a");
  int round_trips = 0;
  while (received(stream) == 0 && round_trips < 10) {
    ++round_trips;
    pair_.to_server();
    pair_.context.restart();
    pair_.context.poll();
    pair_.to_client();
    pair_.now += std::chrono::milliseconds(100);
  }
  EXPECT_EQ(round_trips, 2);
}

/// The initial window, and as much as the client acknowledged of the handshake: slow start counts
/// it, where Linux's TCP does not let a window grow that was not full.
TEST_F(H3Delivery, TheFirstFlightIsTheWindowThatTheHandshakeLeft) {
  pair_.open().get("/a");
  auto const answer = [this] {
    pair_.to_server();
    pair_.context.restart();
    pair_.context.poll();
    pair_.to_client();
  };
  answer();
  auto const handshake_bytes = pair_.bytes_to_client;
  pair_.now += std::chrono::milliseconds(100);
  answer();
  // Paced over most of a round trip; nothing is acknowledged meanwhile.
  for (int i = 0; i < 90; ++i) {
    pair_.now += std::chrono::milliseconds(1);
    pair_.server->pass(pair_.now);
    pair_.to_client();
  }
  auto const flight_bytes = pair_.bytes_to_client - handshake_bytes;
  EXPECT_GT(flight_bytes, kInitialWindowBytes);
  // The last packet may go beyond the window, and one that probes for a larger size beside it.
  EXPECT_LE(flight_bytes, kInitialWindowBytes + handshake_bytes + 3 * kPacketBytesMax);
}

}  // namespace
}  // namespace reprise
