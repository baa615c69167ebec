#include "archive/edit/retime.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/archive/edit/edit_fixture.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Sent at 100 ms, answered at 180 ms and done at 200 ms; the round trip is 30 ms.
Exchange recorded() {
  Exchange exchange;
  exchange.timings = {milliseconds(90), milliseconds(100), milliseconds(180), milliseconds(200)};
  exchange.interim = {{.status = 103, .time = milliseconds(150)}};
  exchange.response.chunk_times = {{.end_bytes = 1, .time = milliseconds(190)},
                                   {.end_bytes = 2, .time = milliseconds(200)}};
  return exchange;
}

Exchange changed(std::string_view change, Exchange exchange = recorded()) {
  EXPECT_TRUE(
      change_think_time(exchange, milliseconds(30), ThinkTimeChange::parse(change).value()));
  return exchange;
}

nanoseconds think_time(const Exchange& exchange) {
  return think_time_until(exchange.timings.first_byte, exchange.timings, milliseconds(30));
}

TEST(ThinkTimeChange, IsWhatWasAskedFor) {
  EXPECT_EQ(think_time(recorded()), milliseconds(50));
  EXPECT_EQ(think_time(changed("30ms")), milliseconds(30));
  EXPECT_EQ(think_time(changed("0")), milliseconds(0));
  EXPECT_EQ(think_time(changed("+30ms")), milliseconds(80));
  EXPECT_EQ(think_time(changed("-20ms")), milliseconds(30));
  EXPECT_EQ(think_time(changed("-200")), milliseconds(0));
  EXPECT_EQ(think_time(changed("x1.5")), milliseconds(75));
}

TEST(ThinkTimeChange, RefusesWhatIsNone) {
  for (auto const* const text : {"", "+", "-", "--1", "+-1", "x", "x-1", "1s", "+x2", "30 ms"}) {
    EXPECT_FALSE(ThinkTimeChange::parse(text)) << text;
  }
}

TEST(ThinkTimeChange, MovesWhatComesAfterTheHeadAndNothingBefore) {
  auto const later = changed("+30ms");
  EXPECT_EQ(later.timings.queued, milliseconds(90));
  EXPECT_EQ(later.timings.request_sent, milliseconds(100));
  EXPECT_EQ(later.timings.end, milliseconds(230));
  EXPECT_EQ(later.response.chunk_times[0].time, milliseconds(220));
  EXPECT_EQ(later.response.chunk_times[1].time, milliseconds(230));
  EXPECT_EQ(later.interim[0].time, milliseconds(150));
  EXPECT_EQ(changed("0").interim[0].time, milliseconds(130));  // not behind the head
}

TEST(ThinkTimeChange, OfAnAnswerThatCameBeforeARoundTripIsFromTheRoundTripOn) {
  auto early = recorded();
  early.timings.first_byte = milliseconds(110);
  EXPECT_EQ(think_time(early), milliseconds(0));
  EXPECT_EQ(changed("20ms", early).timings.first_byte, milliseconds(150));
  EXPECT_EQ(changed("0ms", early).timings.first_byte, milliseconds(110));
}

TEST(ThinkTimeChange, LeavesAnExchangeWithoutTimesAlone) {
  auto timeless = recorded();
  timeless.timings.request_sent = kNoTime;
  EXPECT_FALSE(change_think_time(timeless, {}, ThinkTimeChange::parse("30").value()));
  EXPECT_EQ(timeless.timings.first_byte, milliseconds(180));
}

TEST(ThinkTimeChange, OfAnyTimesIsDefined) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  auto const any_time = [&random] {
    constexpr std::int64_t kExtremes[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
    auto const choice = random() % 12;
    return choice < 6 ? SessionTime(kExtremes[choice])
                      : SessionTime(static_cast<std::int64_t>(random()));
  };
  for (int round = 0; round < 2000; ++round) {
    Exchange exchange;
    exchange.timings = {any_time(), any_time(), any_time(), any_time()};
    exchange.interim = {{.status = 103, .time = any_time()}};
    exchange.response.chunk_times = {{.end_bytes = 1, .time = any_time()}};
    auto const round_trip = milliseconds(random() % 100);
    for (auto const* const text : {"50", "+50", "-50", "x3"}) {
      auto moved = exchange;
      auto const change = ThinkTimeChange::parse(text).value();
      if (!change_think_time(moved, round_trip, change)) continue;
      EXPECT_LE(moved.interim[0].time,
                std::max(moved.timings.first_byte, exchange.interim[0].time));
    }
  }
}

TEST(RetimedCopy, ChangesWhatWasSelectedAndNothingElse) {
  ScratchFolder const folder;
  for_seeds(10, [&folder](std::uint64_t seed) {
    auto const from = folder / "a.reprise";
    auto const to = folder / "b.reprise";
    for (auto const& path : {from, to}) std::filesystem::remove(path);
    make_random_archive(from, seed);
    auto const reader = open_archive(from);
    auto const selection =
        ExchangeSelection::make(*reader, [](const Exchange&, std::uint32_t, std::size_t n) {
          return n % 3 == 0;
        }).value();
    auto const writer = create_archive(to);
    RetimedCopy copy(*reader, selection, ThinkTimeChange::parse("+30").value(), *writer);
    ASSERT_TRUE(copy.run());
    ASSERT_TRUE(writer->close());
    EXPECT_EQ(copy.changed() + copy.timeless(), selection.count());
    auto const copied = open_archive(to);
    RoundTrips const round_trips(*reader);
    auto const before = reader->ordinals_in_order();
    auto const after = copied->ordinals_in_order();
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      auto expected = reader->exchange(before[i]).value();
      if (selection.has_exchange(before[i])) {
        change_think_time(expected, round_trips.to_origin_of(expected),
                          ThinkTimeChange::parse("+30").value());
      }
      auto const got = copied->exchange(after[i]).value();
      EXPECT_EQ(got.timings.first_byte, expected.timings.first_byte);
      EXPECT_EQ(got.timings.end, expected.timings.end);
      EXPECT_EQ(got.response.chunk_times, expected.response.chunk_times);
      EXPECT_EQ(got.response.body.digest, expected.response.body.digest);
      EXPECT_EQ(got.request.target, expected.request.target);
    }
  });
}

}  // namespace
}  // namespace reprise
