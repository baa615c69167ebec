#include "shaper/stream/stream_network.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "shaper/stream/model_transfers.h"
#include "shaper/stream/segment.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::Contains;
using Kind = StreamEvent::Kind;

/// 12 Mbit/s: a full packet a millisecond; 100 ms there and back.
LinkProfile profile_of(const std::string& text) {
  return *parse_link(text);
}
LinkProfile plain() {
  return profile_of("12mbit/12mbit/100ms,queue=1000p");
}

/// What a packet takes on the wire at 12 Mbit/s.
nanoseconds wire(std::uint32_t bytes) {
  return nanoseconds(bytes * 2000 / 3);
}

/// Runs until nothing is left to do; all events, with their times.
std::vector<std::pair<nanoseconds, StreamEvent>> run_out(StreamNetwork& network) {
  std::vector<std::pair<nanoseconds, StreamEvent>> all;
  std::vector<StreamEvent> events;
  while (auto const next = network.next_event()) {
    events.clear();
    network.advance(*next, events);
    for (const StreamEvent& event : events) all.emplace_back(*next, event);
  }
  return all;
}

TEST(StreamNetwork, ConnectsAfterOneRoundTripAndAcceptsAfterOneAndAHalf) {
  StreamNetwork network(plain(), 1, 0ns);
  auto const id = network.open(0ns);
  auto const events = run_out(network);
  ASSERT_EQ(events.size(), 2);
  auto const connected = 2 * (wire(kSynBytes) + 50ms);
  EXPECT_EQ(events[0], std::pair(connected, StreamEvent{Kind::connected, id, Direction::down}));
  EXPECT_EQ(events[1].second, (StreamEvent{Kind::accepted, id, Direction::up}));
  EXPECT_NEAR((events[1].first - connected - 50ms).count(), wire(kHeaderBytes).count(), 1);
}

TEST(StreamNetwork, DeliversASmallAnswerOneRoundTripAfterItsRequest) {
  ModelTransfers transfers(plain(), 1);
  transfers.connect();
  // The request goes behind the handshake's last acknowledgement, the answer behind its own.
  auto const ideal = 100ms + wire(kHeaderBytes) + wire(kHeaderBytes + kRequestBytes) +
                     wire(kHeaderBytes) + wire(kHeaderBytes + 1000);
  EXPECT_NEAR(transfers.fetch(1000).count(), ideal.count(), 10);
}

TEST(StreamNetwork, NeedsARoundTripMoreForEachDoublingOfTheInitialWindow) {
  // 10 segments, then 20, then 40: whole windows and one byte more.
  struct Case {
    std::uint64_t segments;
    int round_trips;
  };
  for (auto const& [segments, round_trips] : {Case{10, 1}, {11, 2}, {30, 2}, {31, 3}, {70, 3}}) {
    ModelTransfers transfers(plain(), 1);
    transfers.connect();
    auto const took = transfers.fetch(segments * kSegmentBytes);
    EXPECT_GT(took, round_trips * 100ms) << segments;
    EXPECT_LT(took, round_trips * 100ms + 50ms) << segments;
  }
}

TEST(StreamNetwork, KeepsItsWindowForTheNextTransfer) {
  ModelTransfers transfers(plain(), 1);
  transfers.connect();
  transfers.fetch(50'000);
  auto const packets = 50'000 / kSegmentBytes + 1;
  EXPECT_LT(transfers.fetch(50'000), 102ms + packets * 1ms);
}

TEST(StreamNetwork, ShrinksItsWindowWhileIdle) {
  ModelTransfers transfers(plain(), 1);
  transfers.connect();
  transfers.fetch(50'000);
  transfers.rest(10s);
  EXPECT_GT(transfers.fetch(50'000), 300ms);
}

TEST(StreamNetwork, HasTheGoodputOfFullPacketsInALongTransfer) {
  ModelTransfers transfers(profile_of("10mbit/10mbit/40ms"), 1);
  transfers.connect();
  transfers.fetch(1'000'000);
  auto const took = transfers.fetch(100'000'000);
  auto const rate = 8e17 / static_cast<double>(took.count());
  EXPECT_NEAR(rate / 10e6, 1448.0 / 1500, 0.01);
}

TEST(StreamNetwork, SharesTheBottleneckAmongConnections) {
  StreamNetwork network(profile_of("10mbit/10mbit/20ms"), 1, 0ns);
  constexpr int kConnections = 4;
  std::vector<std::uint64_t> ids;
  std::vector<StreamEvent> events;
  for (int i = 0; i < kConnections; ++i) {
    ids.push_back(network.open(0ns));
    network.write(ids.back(), Direction::down, 100'000'000, 0ns);
  }
  network.advance(60s, events);
  std::uint64_t sum = 0;
  for (auto const id : ids) {
    auto const got = network.delivered(id, Direction::down);
    sum += got;
    EXPECT_GT(got, 5'000'000) << "starves";
  }
  EXPECT_NEAR(static_cast<double>(sum) * 8 / 60, 10e6 * 1448 / 1500, 0.02 * 10e6);
}

TEST(StreamNetwork, DelaysDatagramsBehindBulk) {
  StreamNetwork network(profile_of("1mbit/1mbit/20ms,queue=50p"), 1, 0ns);
  std::vector<StreamEvent> events;
  auto const id = network.open(0ns);
  network.write(id, Direction::down, 10'000'000, 0ns);
  network.advance(5s, events);
  network.send_datagram(77, Direction::up, 40, 5s);
  network.send_datagram(78, Direction::down, 100, 5s);
  nanoseconds up{0};
  nanoseconds down{0};
  while (up == 0ns || down == 0ns) {
    auto const next = *network.next_event();
    events.clear();
    network.advance(next, events);
    for (const auto& event : events) {
      ASSERT_NE(event.kind, Kind::datagram_dropped);
      if (event == StreamEvent{Kind::datagram, 77, Direction::up}) up = next;
      if (event == StreamEvent{Kind::datagram, 78, Direction::down}) down = next;
    }
  }
  EXPECT_LT(up, 5s + 15ms);
  EXPECT_GT(down, 5s + 100ms);
}

TEST(StreamNetwork, SaysThatADatagramWasDropped) {
  StreamNetwork network(profile_of("none,loss=100%"), 1, 0ns);
  network.send_datagram(5, Direction::up, 40, 0ns);
  auto const events = run_out(network);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].second, (StreamEvent{Kind::datagram_dropped, 5, Direction::up}));
}

TEST(StreamNetwork, TellsTheEndAfterAllBytes) {
  StreamNetwork network(plain(), 1, 0ns);
  auto const id = network.open(0ns);
  network.write(id, Direction::up, 5000, 0ns);
  network.finish(id, Direction::up, 0ns);
  auto const events = run_out(network);
  auto const ended = std::ranges::find_if(
      events, [](const auto& timed) { return timed.second.kind == Kind::ended; });
  ASSERT_NE(ended, events.end());
  EXPECT_EQ(network.delivered(id, Direction::up), 5000);
  EXPECT_EQ(network.unacknowledged(id, Direction::up), 0);
}

TEST(StreamNetwork, SendsASynAgainAfterASecond) {
  StreamNetwork network(profile_of("none/none/100ms,outage=0-500ms"), 1, 0ns);
  network.open(0ns);
  auto const events = run_out(network);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].second.kind, Kind::connected);
  EXPECT_EQ(events[0].first, 1100ms);
}

TEST(StreamNetwork, GivesUpWhenNothingIsEverAnswered) {
  StreamNetwork network(profile_of("none,loss=100%"), 1, 0ns);
  auto const id = network.open(0ns);
  auto const events = run_out(network);
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0],
            std::pair(nanoseconds(127s), StreamEvent{Kind::failed, id, Direction::down}));
}

TEST(StreamNetwork, MakesUpForAnOutageByTheTimeout) {
  StreamNetwork network(profile_of("12mbit/12mbit/100ms,outage=300ms-2s"), 1, 0ns);
  auto const id = network.open(0ns);
  network.write(id, Direction::down, 200'000, 0ns);
  auto const events = run_out(network);
  EXPECT_EQ(network.delivered(id, Direction::down), 200'000);
  // By then the timer has doubled two or three times: neither at once nor never.
  EXPECT_GT(events.back().first, 2100ms);
  EXPECT_LT(events.back().first, 6s);
}

TEST(StreamNetwork, RepairsALossInLessThanTwoRoundTripsMore) {
  // The tenth packet of a long answer is lost: as many more as are sent meanwhile tell.
  auto const time_with = [](const char* outage) {
    ModelTransfers transfers(profile_of(std::string("12mbit/12mbit/100ms,queue=1000p") + outage),
                             1);
    transfers.connect();
    auto const took = transfers.fetch(100'000);
    return std::pair(took, transfers.retransmissions());
  };
  auto const [clean, none] = time_with("");
  // The server sends its second flight between about 250 and 275 ms.
  auto const [lossy, some] = time_with(",down.outage=255ms-256.5ms");
  EXPECT_EQ(none, 0);
  EXPECT_GE(some, 1);
  EXPECT_LE(some, 4);
  EXPECT_GT(lossy, clean);
  EXPECT_LT(lossy, clean + 200ms);
}

TEST(StreamNetwork, LosesRateToRandomLoss) {
  // Mathis: about 1.2 / sqrt(p) packets a round trip, for each of two a loss is 10 times likelier.
  auto const seconds_for = [](const char* loss) {
    ModelTransfers transfers(profile_of(std::string("100mbit/100mbit/50ms,down.loss=") + loss), 1);
    transfers.connect();
    return static_cast<double>(transfers.fetch(20'000'000).count()) * 1e-9;
  };
  auto const clean = seconds_for("0");
  auto const some = seconds_for("0.1%");
  auto const much = seconds_for("1%");
  EXPECT_LT(clean, 4);
  EXPECT_GT(some, 2 * clean);
  EXPECT_GT(much, 2 * some);
  auto const packets_a_round_trip = 20e6 / 1448 / (much / 0.05);
  EXPECT_GT(packets_a_round_trip, 6);
  EXPECT_LT(packets_a_round_trip, 30);
}

TEST(StreamNetwork, ForgetsAClosedConnectionWithPacketsUnderWay) {
  StreamNetwork network(plain(), 1, 0ns);
  auto const id = network.open(0ns);
  network.write(id, Direction::up, 100'000, 0ns);
  std::vector<StreamEvent> events;
  network.advance(160ms, events);
  network.close(id);
  run_out(network);
  EXPECT_EQ(network.delivered(id, Direction::up), 0);
  EXPECT_EQ(network.link(Direction::up).counters().in_flight, 0);
  network.write(id, Direction::up, 1, 10s);  // is no error
  EXPECT_EQ(network.next_event(), std::nullopt);
}

TEST(StreamNetwork, TakesAnotherLinkOnTheWay) {
  StreamNetwork network(profile_of("1mbit/1mbit/20ms"), 1, 0ns);
  auto const id = network.open(0ns);
  network.write(id, Direction::down, 10'000'000, 0ns);
  network.change(profile_of("10mbit/10mbit/20ms"), 10s);
  std::vector<StreamEvent> events;
  network.advance(10s, events);
  auto const slow = network.delivered(id, Direction::down);
  network.advance(15s, events);
  auto const fast = network.delivered(id, Direction::down) - slow;
  // Slow start fills the queue over, and what lies behind a gap does not count yet.
  EXPECT_NEAR(static_cast<double>(slow), 10 * 1e6 / 8, 0.15 * 1e6);
  EXPECT_GT(fast, 3 * slow);
}

/// Whatever the link does, all bytes arrive, once, and the model comes to rest.
TEST(StreamNetworkProperty, DeliversEverythingOverRandomLinks) {
  int failed = 0;
  for_seeds(1000, [&failed](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto const below = [&](std::uint64_t limit) { return random() % limit; };
    auto const number = [&](std::uint64_t limit) { return std::to_string(1 + below(limit)); };
    auto const rate = [&] { return std::to_string(100 + below(20'000)); };
    auto link = rate() + "/" + rate() + "/" + number(300) + ",queue=" + number(60) +
                "p,loss=" + std::to_string(below(6)) + "%,jitter=" + number(20);
    if (below(2) == 0) link += ",reorder=yes";
    if (below(3) == 0) link += ",ge=1%/30%";
    if (below(3) == 0) link += ",outage=" + number(900) + "-1s";
    if (below(4) == 0) link += ",aqm=codel";
    SCOPED_TRACE(link);
    StreamNetwork network(profile_of(link), seed, 0ns);
    struct Stream {
      std::uint64_t id;
      std::uint64_t down;
      std::uint64_t up;

      std::uint64_t bytes(Direction direction) const {
        return direction == Direction::down ? down : up;
      }
    };
    std::vector<Stream> streams;
    nanoseconds now{0};
    std::vector<StreamEvent> events;
    for (auto count = 1 + below(4); count > 0; --count) {
      now += nanoseconds(below(500'000'000));
      Stream const stream{network.open(now), below(100'000), below(20'000)};
      network.write(stream.id, Direction::down, stream.down, now);
      network.finish(stream.id, Direction::down, now);
      network.write(stream.id, Direction::up, stream.up, now);
      network.finish(stream.id, Direction::up, now);
      streams.push_back(stream);
    }
    network.advance(now, events);
    int steps = 0;
    while (auto const next = network.next_event()) {
      ASSERT_GE(*next, now) << "time runs backwards";
      ASSERT_LE(*next - now, 120s) << "longer than any timer";
      now = *next;
      network.advance(now, events);
      ASSERT_LT(++steps, 100'000) << "never rests";
    }
    for (const Stream& stream : streams) {
      if (std::ranges::count(events, StreamEvent{Kind::failed, stream.id, Direction::down}) > 0) {
        ++failed;
        continue;
      }
      for (auto const direction : {Direction::down, Direction::up}) {
        EXPECT_THAT(events, Contains(StreamEvent{Kind::ended, stream.id, direction}).Times(1));
        EXPECT_EQ(network.delivered(stream.id, direction), stream.bytes(direction));
        EXPECT_EQ(network.unacknowledged(stream.id, direction), 0);
      }
    }
  });
  // Bursts of loss may take every try of a handshake.
  EXPECT_LT(failed, 25) << "of some 2500";
}

}  // namespace
}  // namespace reprise
