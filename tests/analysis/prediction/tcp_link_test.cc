#include "analysis/prediction/tcp_link.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "analysis/prediction/sent_again.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kSegment = TcpLink::kSegmentBytes;
/// A segment takes 1 ms.
constexpr double kRate = kSegment / 1000;
constexpr double kRoundTripUs = 30'000;

/// Moves on until nothing happens any more: when each transfer began to come out, and when it
/// ended.
std::map<std::size_t, std::pair<double, double>> run(TcpLink& link) {
  std::map<std::size_t, std::pair<double, double>> times;
  for (auto now = link.next(); now != TcpLink::kNever; now = link.next()) {
    for (auto const& arrival : link.advance(now)) {
      if (arrival.is_first) times[arrival.transfer].first = now;
      if (arrival.is_last) times[arrival.transfer].second = now;
    }
  }
  return times;
}

TEST(TcpLink, SendsNoMoreThanItsWindowInARoundTrip) {
  TcpLink link(kRate, 0);
  link.send(link.connect(kRoundTripUs), 7, 40 * kSegment);
  EXPECT_EQ(link.next(), 1'000);
  EXPECT_THAT(link.advance(1'000), ElementsAre(TcpLink::Arrival{.transfer = 7, .is_first = true}));
  EXPECT_EQ(link.wait_us(), 9'000) << "the first window";
  // 10 segments until 10 ms, 20 from 31 to 51, of which the first are acknowledged at 62.
  EXPECT_NEAR(run(link)[7].second, 72'000, 1e-3);
}

TEST(TcpLink, TellsWhenTheFirstRecordOfATransferIsOut) {
  TcpLink link(kRate, 0);
  auto const connection = link.connect(kRoundTripUs);
  link.send(connection, 0, 3 * kSegment);
  link.send(connection, 1, 40 * kSegment);
  std::map<std::size_t, double> record_us;
  for (auto now = link.next(); now != TcpLink::kNever; now = link.next()) {
    for (auto const& arrival : link.advance(now)) {
      if (arrival.has_record) EXPECT_TRUE(record_us.emplace(arrival.transfer, now).second);
    }
  }
  EXPECT_NEAR(record_us.at(0), 3'000, 1e-3) << "it is all that there is";
  EXPECT_NEAR(record_us.at(1), 36'000, 1e-3) << "16 KiB are 11.2 segments: five of the next flight";
}

TEST(TcpLink, GoesOnWithoutAPauseOnceTheWindowFillsIt) {
  TcpLink link(kRate, 0);
  link.send(link.connect(5'000), 0, 200 * kSegment);
  EXPECT_NEAR(run(link)[0].second, 200'000, 1e-3);
}

TEST(TcpLink, KeepsTheWindowOfAConnection) {
  TcpLink link(kRate, 0);
  auto const connection = link.connect(kRoundTripUs);
  link.send(connection, 0, 40 * kSegment);
  run(link);  // until 102 ms; the last segment was sent at 62
  link.advance(270'000);
  link.send(connection, 1, 40 * kSegment);
  link.send(link.connect(kRoundTripUs), 2, 0);
  auto const times = run(link);
  EXPECT_NEAR(times.at(1).second, 310'000, 1e-3);
  EXPECT_NEAR(times.at(2).first, 310'000, 1e-3) << "it came later";
}

TEST(TcpLink, TakesTheWindowBackWhenItWasIdle) {
  auto const lasts_ms = [](double idle_until_ms) {
    TcpLink link(kRate, 0);
    auto const connection = link.connect(kRoundTripUs);
    link.send(connection, 0, 90 * kSegment);
    run(link);  // 30 and 40 segments are sent until 93 ms, which leaves a window of 80 or more
    link.advance(idle_until_ms * 1000);
    link.send(connection, 1, 70 * kSegment);
    return run(link)[1].second / 1000 - idle_until_ms;
  };
  EXPECT_NEAR(lasts_ms(290), 70, 1e-6);
  EXPECT_NEAR(lasts_ms(420), 70, 1e-6) << "half of it is enough for the round trip of 30";
  EXPECT_NEAR(lasts_ms(1'500), 62 + 40, 1e-6) << "as a new one";
}

TEST(TcpLink, WaitsLongerForATimeoutIfRoundTripsAreLong) {
  auto const window_after = [](double idle_ms) {
    TcpLink link(kRate / 10, 0);  // a segment takes 10 ms
    auto const connection = link.connect(kRoundTripUs);
    link.send(connection, 0, 30 * kSegment);  // the last is sent at 140 ms, acknowledged at 330
    run(link);
    link.advance(140'000 + idle_ms * 1000);
    link.send(connection, 1, 100 * kSegment);
    return link.wait_us() / 10'000;
  };
  EXPECT_GT(window_after(300), 30) << "not a round trip of 30 ms and 200 later";
  EXPECT_NEAR(window_after(10'000), 10, 1e-6);
}

TEST(TcpLink, GrowsSlowlyOnceAQueueShows) {
  auto const longest_wait_us = [](double segments) {
    TcpLink link(kRate / 10, 0);  // a segment takes 10 ms: three fill a round trip
    link.send(link.connect(kRoundTripUs), 0, segments * kSegment);
    double longest_us = 0;
    for (auto now = link.next(); now != TcpLink::kNever; now = link.next()) {
      link.advance(now);
      longest_us = std::max(longest_us, link.wait_us());
    }
    return longest_us;
  };
  // From 16 segments on HyStart looks at eight acknowledgements of two segments, of one round: that
  // of 20. So 38 are sent, of which three are on their way; then a twentieth of what is
  // acknowledged, and after seconds what the cube of the time asks for.
  EXPECT_NEAR(longest_wait_us(100), 360'000, 5'000);
  EXPECT_NEAR(longest_wait_us(200), 410'000, 10'000);
  EXPECT_GT(longest_wait_us(1'000), 1'000'000);
}

TEST(TcpLink, ComparesRoundTripsWithTheConnectionsOwn) {
  auto const lasts_us = [](bool met_the_queue) {
    TcpLink link(10 * kRate, 0);
    auto const other = link.connect(kRoundTripUs);
    auto const connection = link.connect(kRoundTripUs);
    if (!met_the_queue) link.handshake_wait_us(connection);
    link.send(other, 0, 5'500 * kSegment);  // sent by 560 ms; then its queue of 115 ms drains
    while (link.next() < 400'000) link.advance(link.next());
    if (met_the_queue) EXPECT_GT(link.handshake_wait_us(connection), 16'000);
    link.send(connection, 1, 1'000 * kSegment);
    return run(link).at(1).second - 400'000;
  };
  EXPECT_LT(lasts_us(true), .7 * lasts_us(false)) << "what was there before it is no sign";
}

TEST(TcpLink, ReturnsAfterAPauseToTheWindowAtWhichAQueueShowed) {
  auto const lasts_us = [](double known_segments) {
    TcpLink link(kRate, 0);
    auto const connection = link.connect(kRoundTripUs);
    link.send(connection, 0, known_segments * kSegment);
    run(link);
    link.advance(3'000'000);
    link.send(link.connect(kRoundTripUs), 1, 2'000 * kSegment);
    while (link.next() < 3'400'000) link.advance(link.next());
    link.send(connection, 2, 150 * kSegment);
    return run(link).at(2).second - 3'400'000;
  };
  EXPECT_LT(lasts_us(400), .85 * lasts_us(20)) << "whatever queue it meets";
}

TEST(TcpLink, MakesWhatComesLaterWaitWhoeverSendsIt) {
  TcpLink link(kRate, 0);
  link.send(link.connect(kRoundTripUs), 0, 10 * kSegment);
  link.send(link.connect(kRoundTripUs), 1, kSegment);
  EXPECT_EQ(link.wait_us(), 11'000);
  link.advance(1'000);
  link.advance(2'000);
  EXPECT_EQ(link.wait_us(), 9'000);
  auto const times = run(link);
  EXPECT_NEAR(times.at(0).second, 10'000, 1e-3);
  EXPECT_NEAR(times.at(1).second, 11'000, 1e-3);
  link.advance(60'000);
  EXPECT_EQ(link.wait_us(), 0);
}

TEST(TcpLink, MakesOthersWaitForAHandshake) {
  TcpLink link(kRate, 0);
  EXPECT_EQ(link.handshake_wait_us(link.connect(kRoundTripUs)), 0);
  EXPECT_EQ(link.handshake_wait_us(link.connect(kRoundTripUs)), 2'000) << "two segments";
  EXPECT_EQ(link.wait_us(), 4'000);
}

TEST(TcpLink, SendsTheMostUrgentOfAConnectionFirst) {
  TcpLink link(kRate, 0);
  auto const connection = link.connect(0);
  link.send(connection, 1, 20 * kSegment, {.urgency = 3});
  link.send(connection, 2, 5 * kSegment, {.urgency = 1});
  auto const times = run(link);
  // Ten segments were in the queue already.
  EXPECT_NEAR(times.at(2).second, 15'000, 1e-3);
  EXPECT_NEAR(times.at(1).second, 25'000, 1e-3);
}

TEST(TcpLink, SendsWhatIsOfNoUseInPartOneAfterAnother) {
  TcpLink link(kRate, 0);
  auto const connection = link.connect(0);
  link.send(connection, 0, 10 * kSegment);  // fills the window
  link.send(connection, 1, 5 * kSegment, {.incremental = true});
  link.send(connection, 2, 5 * kSegment, {.incremental = true});
  link.send(connection, 3, 4 * kSegment, {.incremental = false});
  link.send(connection, 4, 2 * kSegment, {.incremental = false});
  auto const times = run(link);
  EXPECT_NEAR(times.at(3).second, 14'000, 1e-3) << "the first, though it is longer";
  EXPECT_NEAR(times.at(4).second, 16'000, 1e-3);
  EXPECT_NEAR(times.at(1).second, 25'000, 1e-3) << "in turn";
  EXPECT_NEAR(times.at(2).second, 26'000, 1e-3);
}

TEST(TcpLink, SendsWhatIsInTheSocketBeforeWhatIsMoreUrgent) {
  // Ten segments are on their way, 20 in the socket. More are written when 14 are left in it, the
  // last ones before 23 ms.
  for (auto const& [asked_ms, end_ms] : {std::pair(0, 32), {7, 48}, {23, 62}}) {
    TcpLink link(kRate, 0, {.bytes_max = 30 * kSegment, .bytes_left = 14 * kSegment});
    auto const connection = link.connect(0);
    link.send(connection, 1, 60 * kSegment, {.urgency = 3});
    while (link.next() < asked_ms * 1'000) link.advance(link.next());
    link.send(connection, 2, 2 * kSegment, {.urgency = 1});
    EXPECT_NEAR(run(link).at(2).second, end_ms * 1'000, 1e-3) << asked_ms;
  }
}

TEST(TcpLink, WaitsForAcknowledgementsAloneWithoutARate) {
  TcpLink link(0, 0);
  link.advance(5);
  link.send(link.connect(kRoundTripUs), 1, 40 * kSegment);
  EXPECT_EQ(link.next(), 5);
  EXPECT_NEAR(run(link)[1].second, 2 * kRoundTripUs + 5, 1e-3);
}

TEST(TcpLink, CarriesEverythingAtItsRate) {
  for_seeds(300, [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    double bytes = 0;
    std::vector<GivenTransfer> transfers;
    for (std::size_t i = 0; i < 50; ++i) {
      transfers.push_back({.connection = random() % 5,
                           .bytes = static_cast<double>(random() % 40'000),
                           .priority = {.urgency = static_cast<int>(random() % 3),
                                        .incremental = random() % 2 == 0}});
      bytes += transfers.back().bytes;
    }
    // A round trip of nothing leaves no pause.
    auto const sent = send_again({.bytes_per_us = 3}, transfers, {});
    ASSERT_NEAR(std::ranges::max(sent.end_us), bytes / 3, 1e-6 * bytes);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      ASSERT_LE(sent.first_us[i], sent.end_us[i]);
      ASSERT_GE(sent.end_us[i], transfers[i].bytes / 3 - 1e-6);
    }
  });
}

TEST(TcpLink, SendsLargeTransfersInFewPackets) {
  TcpLink link(1, 1e12);
  link.send(link.connect(1'000), 0, 1e12);
  std::size_t steps = 0;
  for (auto now = link.next(); now != TcpLink::kNever; now = link.next(), ++steps) {
    link.advance(now);
  }
  EXPECT_LE(steps, 2 * TcpLink::kPacketsMax + 1);
}

TEST(SentAgain, KnowsWhatWaitedInTheQueue) {
  std::vector<GivenTransfer> const transfers = {
      {.at_us = 4'000, .connection = 3, .bytes = kSegment},
      {.at_us = 0, .connection = 9, .bytes = 5 * kSegment}};
  std::vector<double> const probes = {90'000, 2'500, 0};
  SentOver const over{.bytes_per_us = kRate, .round_trip_us = kRoundTripUs};
  auto const sent = send_again(over, transfers, probes);
  EXPECT_THAT(sent.first_us, ElementsAre(6'000, 1'000));
  EXPECT_THAT(sent.end_us, ElementsAre(6'000, 5'000));
  EXPECT_THAT(sent.wait_us, ElementsAre(0, 2'500, 0)) << "at 0, nothing was there yet";
  EXPECT_THAT(send_again(over, {}, {}).end_us, IsEmpty());
}

}  // namespace
}  // namespace reprise
