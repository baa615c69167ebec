#include "proxy/replay/response/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "archive/think_time.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using testing::ElementsAre;

constexpr auto kSent = milliseconds(1000);
const Timing kRecorded{.think = {.kind = ThinkTime::Kind::kRecorded}, .pace = Pace::kNone};

Timing timing(std::string_view think_time) {
  return {.think = ThinkTime::parse(think_time).value(), .pace = Pace::kNone};
}

/// The recording of an answer whose head came `first_byte_ms` after its request had been sent.
Exchange answered_after(int first_byte_ms) {
  Exchange exchange;
  exchange.timings = {.queued = kSent,
                      .request_sent = kSent,
                      .first_byte = kSent + milliseconds(first_byte_ms),
                      .end = kSent + milliseconds(first_byte_ms)};
  exchange.response.status = 200;
  return exchange;
}

struct Piece {
  int after_head_ms;
  std::uint64_t size_bytes;
};

/// One whose body came in these pieces.
Exchange in_pieces(const std::vector<Piece>& pieces, const char* type = "text/html") {
  auto exchange = answered_after(10);
  auto& response = exchange.response;
  response.headers = {{.name = "Content-Type", .value = type}};
  for (const Piece& piece : pieces) {
    response.body.size_bytes += piece.size_bytes;
    exchange.timings.end = exchange.timings.first_byte + milliseconds(piece.after_head_ms);
    response.chunk_times.push_back(
        {.end_bytes = response.body.size_bytes, .time = exchange.timings.end});
  }
  return exchange;
}

/// The same recording, with a body of another size in its place.
Exchange edited(Exchange exchange, std::uint64_t size_bytes) {
  exchange.response.timed_bytes = exchange.response.timed_size_bytes();
  exchange.response.body.size_bytes = size_bytes;
  return exchange;
}

struct ShownStep {
  std::uint64_t end_bytes;
  int after_head_ms;
  bool operator==(const ShownStep&) const = default;
  friend void PrintTo(const ShownStep& step, std::ostream* out) {
    *out << "{" << step.end_bytes << " bytes by " << step.after_head_ms << " ms}";
  }
};

std::vector<ShownStep> steps_of(const Exchange& exchange, Pace pace = Pace::kStreams,
                                std::optional<nanoseconds> round_trip = milliseconds(5)) {
  std::vector<ShownStep> shown;
  for (const auto& step : make_schedule(exchange, round_trip, {.think = {}, .pace = pace}).steps) {
    auto const due = std::chrono::round<milliseconds>(step.after_head);
    shown.push_back({step.end_bytes, static_cast<int>(due.count())});
  }
  return shown;
}

TEST(ThinkTime, IsTheTimeToTheFinalHeadLessARoundTrip) {
  EXPECT_EQ(make_schedule(answered_after(80), milliseconds(30), kRecorded).head, milliseconds(50));
  EXPECT_EQ(make_schedule(answered_after(80), std::nullopt, kRecorded).head, milliseconds(80));
}

TEST(ThinkTime, IsNeverNegative) {
  EXPECT_EQ(make_schedule(answered_after(20), milliseconds(30), kRecorded).head, nanoseconds(0));
  EXPECT_EQ(make_schedule(answered_after(-20), milliseconds(0), kRecorded).head, nanoseconds(0));
}

TEST(ThinkTime, IsNothingWhereTheRecordingDoesNotTell) {
  auto unsent = answered_after(80);
  unsent.timings.request_sent = kNoTime;
  EXPECT_EQ(make_schedule(unsent, milliseconds(0), kRecorded).head, nanoseconds(0));
  auto unanswered = answered_after(80);
  unanswered.timings.first_byte = kNoTime;
  EXPECT_EQ(make_schedule(unanswered, milliseconds(0), kRecorded).head, nanoseconds(0));
}

TEST(ThinkTime, IsWhatTheUserSays) {
  auto const head = [](std::string_view think_time) {
    return make_schedule(answered_after(80), milliseconds(30), timing(think_time)).head;
  };
  EXPECT_EQ(head("none"), nanoseconds(0));
  EXPECT_EQ(head("recorded"), milliseconds(50));
  EXPECT_EQ(head("x2"), milliseconds(100));
  EXPECT_EQ(head("x0.5"), milliseconds(25));
  EXPECT_EQ(head("x0"), nanoseconds(0));
  EXPECT_EQ(head("7"), milliseconds(7));
  EXPECT_EQ(head("7ms"), milliseconds(7));
  EXPECT_EQ(head("0.5"), std::chrono::microseconds(500));
}

TEST(ThinkTime, IsSaidAgainAsItWasAskedFor) {
  for (auto const* const text : {"none", "recorded", "x2", "x0.5", "30 ms", "0.5 ms"}) {
    auto asked = std::string(text);
    std::erase(asked, ' ');
    EXPECT_EQ(ThinkTime::parse(asked).value().text(), text);
  }
}

TEST(ThinkTime, RefusesWhatIsNoTime) {
  for (auto const* const text : {"", "x", "x-1", "-1", "1s", "nan", "xinf", "1e99", "ms", "x1001",
                                 "recordedx2", "5 ms ", "0x10"}) {
    EXPECT_FALSE(ThinkTime::parse(text)) << text;
  }
}

TEST(ThinkTime, OfInterimHeadsIsTheirOwn) {
  auto exchange = answered_after(80);
  exchange.interim = {{.status = 100, .time = kSent + milliseconds(1)},
                      {.status = 103, .time = kSent + milliseconds(35)},
                      {.status = 103, .time = kSent + milliseconds(60)}};
  auto const interim = [&exchange](std::string_view think_time) {
    return make_schedule(exchange, milliseconds(30), timing(think_time)).interim;
  };
  EXPECT_THAT(interim("recorded"), ElementsAre(milliseconds(5), milliseconds(30)));
  EXPECT_THAT(interim("x2"), ElementsAre(milliseconds(10), milliseconds(60)));
  EXPECT_THAT(interim("none"), ElementsAre(nanoseconds(0), nanoseconds(0)));
  // Not behind the final head.
  EXPECT_THAT(interim("20"), ElementsAre(milliseconds(5), milliseconds(20)));
}

TEST(Schedule, OfAnOrdinaryBodyHasNoSteps) {
  EXPECT_THAT(steps_of(in_pieces({{0, 14'600}, {30, 30'000}, {60, 60'000}, {250, 100}})),
              ElementsAre());
  EXPECT_TRUE(make_schedule(in_pieces({{0, 100}}), {}, {}).is_at_once());
  EXPECT_TRUE(make_schedule(answered_after(80), {}, {}).is_at_once());
}

TEST(Schedule, KeepsThePausesOfAnOriginAndNothingBetweenThem) {
  // A document whose head comes at once, and whose rest had to be looked up.
  EXPECT_THAT(steps_of(in_pieces({{0, 500}, {20, 500}, {600, 3000}, {640, 4000}, {1640, 50}})),
              ElementsAre(ShownStep{1000, 0}, ShownStep{8000, 580}, ShownStep{8050, 1580}));
}

TEST(Schedule, TakesAHeadWithoutABodyForAPause) {
  EXPECT_THAT(steps_of(in_pieces({{400, 500}, {410, 500}})), ElementsAre(ShownStep{1000, 400}));
}

TEST(Schedule, TakesWhatALinkMakesForNoPause) {
  // One packet lost: 200 ms and a round trip.
  EXPECT_THAT(steps_of(in_pieces({{0, 1000}, {205, 1000}})), ElementsAre());
  EXPECT_THAT(steps_of(in_pieces({{0, 1000}, {500, 1000}}), Pace::kStreams, milliseconds(150)),
              ElementsAre());
  // A client that reads no more: a window was sent before.
  EXPECT_THAT(steps_of(in_pieces({{0, 65'536}, {2000, 65'536}, {4000, 100}})), ElementsAre());
}

TEST(Schedule, OfAnotherBodyHasThePausesOfTheRecordedOne) {
  // A client that read no more is no pause, however small the body is now.
  auto const stalled = in_pieces({{0, 200'000}, {500, 200'000}});
  EXPECT_THAT(steps_of(edited(stalled, 80'000)), ElementsAre());
  // And a pause is one, however large the body is now.
  auto const paused = in_pieces({{0, 40'000}, {500, 40'000}});
  EXPECT_THAT(steps_of(edited(paused, 400'000)),
              ElementsAre(ShownStep{200'000, 0}, ShownStep{400'000, 500}));
  auto const stream = in_pieces({{0, 100}, {20, 100}}, "text/event-stream");
  EXPECT_THAT(steps_of(edited(stream, 20)), ElementsAre(ShownStep{10, 0}, ShownStep{20, 20}));
  EXPECT_EQ(pauses_of(edited(stalled, 80'000), milliseconds(5)), nanoseconds(0));
  EXPECT_EQ(pauses_of(edited(paused, 400'000), milliseconds(5)), milliseconds(500));
}

TEST(Schedule, KeepsEveryPieceOfAStream) {
  for (auto const* const type :
       {"text/event-stream", "Text/Event-Stream; charset=utf-8", "application/x-ndjson",
        "application/grpc+proto", "multipart/x-mixed-replace; boundary=x"}) {
    EXPECT_THAT(steps_of(in_pieces({{0, 10}, {20, 10}, {45, 10}}, type)),
                ElementsAre(ShownStep{10, 0}, ShownStep{20, 20}, ShownStep{30, 45}))
        << type;
  }
}

TEST(Schedule, HoldsAStreamOpenUntilItEnded) {
  auto exchange = in_pieces({{0, 10}, {20, 10}}, "text/event-stream");
  exchange.timings.end += milliseconds(3000);
  EXPECT_THAT(steps_of(exchange),
              ElementsAre(ShownStep{10, 0}, ShownStep{20, 20}, ShownStep{20, 3020}));
}

TEST(Schedule, PutsPiecesTogetherThatNoTimerTellsApart) {
  auto exchange = in_pieces({{0, 10}, {20, 10}, {20, 10}, {40, 10}}, "text/event-stream");
  exchange.response.chunk_times[2].time += std::chrono::microseconds(900);
  EXPECT_THAT(steps_of(exchange),
              ElementsAre(ShownStep{10, 0}, ShownStep{30, 20}, ShownStep{40, 40}));
}

TEST(Schedule, IsWhatTheUserSays) {
  auto const page = in_pieces({{0, 10}, {20, 10}, {420, 10}});
  auto const stream = in_pieces({{0, 10}, {20, 10}}, "text/event-stream");
  EXPECT_THAT(steps_of(page, Pace::kAll),
              ElementsAre(ShownStep{10, 0}, ShownStep{20, 20}, ShownStep{30, 420}));
  EXPECT_THAT(steps_of(page, Pace::kNone), ElementsAre());
  EXPECT_THAT(steps_of(stream, Pace::kNone), ElementsAre());
}

TEST(Schedule, HasNoStepsWhereTimesAreNotKnown) {
  auto headless = in_pieces({{0, 10}, {500, 10}});
  headless.timings.first_byte = kNoTime;
  EXPECT_THAT(steps_of(headless), ElementsAre());
  auto timeless = in_pieces({{0, 10}, {500, 10}});
  timeless.response.chunk_times[0].time = kNoTime;
  EXPECT_THAT(steps_of(timeless), ElementsAre());
}

TEST(Schedule, OfAnyTimesIsInOrderAndCoversTheBody) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  auto const any_time = [&random] {
    constexpr std::int64_t kExtremes[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
    auto const choice = random() % 12;
    if (choice < 6) return SessionTime(kExtremes[choice]);
    return SessionTime(static_cast<std::int64_t>(random() % 5'000'000'000));
  };
  for (int round = 0; round < 5000; ++round) {
    auto exchange = answered_after(0);
    exchange.timings = {any_time(), any_time(), any_time(), any_time()};
    exchange.interim = {{.status = 103, .time = any_time()}, {.status = 103, .time = any_time()}};
    auto& response = exchange.response;
    response.body.size_bytes = random() % 200'000;
    if (random() % 2 == 0) response.timed_bytes = random() % 200'000;
    for (std::size_t i = random() % 8; i > 0; --i) {
      response.chunk_times.push_back({.end_bytes = random() % 250'000, .time = any_time()});
    }
    auto const think = random() % 2 == 0 ? timing("x1000") : timing("recorded");
    auto const schedule = make_schedule(exchange, {}, {.think = think.think, .pace = Pace::kAll});
    ASSERT_GE(schedule.head, nanoseconds(0));
    ASSERT_LE(schedule.head, kThinkTimeMax);
    for (auto const interim : schedule.interim) ASSERT_LE(interim, schedule.head);
    Schedule::Step before;
    for (const Schedule::Step& step : schedule.steps) {
      ASSERT_GE(step.end_bytes, before.end_bytes);
      ASSERT_GE(step.after_head, before.after_head);
      ASSERT_LE(step.after_head, kThinkTimeMax);
      before = step;
    }
    ASSERT_EQ(before.end_bytes, schedule.steps.empty() ? 0 : response.body.size_bytes);
  }
}

TEST(Schedule, FitsFormsThatAreLongerOrShorter) {
  // With a script of 500 bytes in it, which goes out with the first piece.
  EXPECT_EQ(end_in_form(100, 1000, 1500, false), 600U);
  EXPECT_EQ(end_in_form(1000, 1000, 1500, false), 1500U);
  EXPECT_EQ(end_in_form(0, 1000, 1500, false), 0U);
  // Decoded.
  EXPECT_EQ(end_in_form(250, 1000, 4000, true), 1000U);
  EXPECT_EQ(end_in_form(1000, 1000, 4001, true), 4001U);
  // Shorter.
  EXPECT_EQ(end_in_form(500, 1000, 900, false), 450U);
}

}  // namespace
}  // namespace reprise
