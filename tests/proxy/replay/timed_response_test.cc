// What is sent, what is waited for, and how often: on a clock that stands still.

#include "proxy/replay/timed_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <set>

#include "proxy/replay/replay_session.h"
#include "tests/proxy/replay/recorded_archive.h"
#include "tests/proxy/replay/written_log.h"

namespace reprise {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class TimedReplay : public testing::Test {
 protected:
  TimedReplay() {
    ConnectionFacts facts;
    facts.id = 1;
    facts.scheme = Scheme::kHttps;
    facts.host = "a.test";
    facts.port = 443;
    facts.address = "192.0.2.1:443";
    facts.connect_start = hours(0);
    facts.tls_start = hours(1);
    facts.ready = hours(3);
    archive_.add(std::move(facts));
  }

  /// Records a response over a connection whose round trip is an hour. The request was sent at
  /// 10 h; the head came `head_h` hours later, and then each piece so many hours behind the head.
  void record(const std::string& target, int head_h,
              const std::vector<std::pair<int, std::string>>& pieces,
              const char* type = "text/event-stream", std::vector<int> interim_h = {}) {
    auto exchange = RecordedArchive::exchange("GET", target,
                                              {{.name = "Content-Type", .value = type},
                                               {.name = "ETag", .value = "\"x\""},
                                               {.name = "Transfer-Encoding", .value = "chunked"}});
    exchange.origin_connection_id = 1;
    exchange.request.version = HttpVersion::kHttp11;
    auto const head_at = hours(10 + head_h);
    exchange.timings = {hours(10), hours(10), head_at, head_at};
    std::string body;
    for (const auto& [after_h, text] : pieces) {
      body += text;
      exchange.timings.end = head_at + hours(after_h);
      exchange.response.chunk_times.push_back(
          {.end_bytes = body.size(), .time = exchange.timings.end});
    }
    for (int const at : interim_h) {
      exchange.interim.push_back(
          {.status = 103, .reason = "", .headers = {}, .time = hours(10 + at)});
    }
    archive_.add(std::move(exchange), body);
  }

  ReplaySession& replay(const Timing& timing) {
    ReplaySession::Options options;
    options.timing = timing;
    return replay_.emplace(archive_.reader(), std::move(options));
  }

  /// What a client gets of it, the way that servers ask.
  std::vector<std::string> get(ReplaySession& replay, const std::string& target,
                               const std::vector<HeaderView>& headers = {},
                               std::string_view method = "GET", std::size_t gone_at_timer = 0) {
    RequestHead const head{.method = method,
                           .scheme = Scheme::kHttps,
                           .host = "a.test",
                           .port = 443,
                           .target = target,
                           .version = HttpVersion::kHttp11,
                           .headers = headers};
    auto const now = std::chrono::steady_clock::now();
    WrittenLog log(now);
    log.gone_at_timer = gone_at_timer;
    ConnectionInfo const connection;
    auto const handler = replay.open(connection);
    ExchangeContext const context{.connection = connection, .stream_id = 1, .arrived = now};
    if (auto const stored = handler->stored(context, head)) {
      return {"at once " + std::to_string(stored->parts().body.bytes.size())};
    }
    NoBody body;
    net::io_context loop(1);
    net::co_spawn(loop, handler->serve(context, head, body, log),
                  [](std::exception_ptr broken, const Result<void>&) {
                    if (broken) std::rethrow_exception(broken);
                  });
    loop.run();
    due_.insert(due_.end(), log.due.begin(), log.due.end());
    return log.lines;
  }
  std::vector<std::string> get(const Timing& timing, const std::string& target,
                               const std::vector<HeaderView>& headers = {},
                               std::string_view method = "GET") {
    return get(replay(timing), target, headers, method);
  }

  inline static const Timing kThink{.think = {.kind = ThinkTime::Kind::kRecorded},
                                    .pace = Pace::kStreams};

  std::vector<WrittenLog::Time> due_;  // of all timers

 private:
  RecordedArchive archive_;
  std::optional<ReplaySession> replay_;
};

TEST_F(TimedReplay, OfWhatIsNotDueLaterIsAtOnce) {
  record("/", 1, {{0, "text"}}, "text/html");
  EXPECT_THAT(get({}, "/"), ElementsAre("at once 4"));
  EXPECT_THAT(get(kThink, "/"), ElementsAre("at once 4"));  // a round trip is no think time
}

TEST_F(TimedReplay, ThinksBeforeTheHeadAndThenSendsAllInOne) {
  record("/", 6, {{0, "text"}}, "text/html");
  EXPECT_THAT(get(kThink, "/"), ElementsAre("until 5 h", "all of 4"));
  EXPECT_THAT(get({}, "/"), ElementsAre("at once 4"));
}

TEST_F(TimedReplay, SendsEachInterimHeadInItsTime) {
  record("/", 6, {{0, "text"}}, "text/html", {3, 5});
  EXPECT_THAT(get(kThink, "/"), ElementsAre("until 2 h", "head 103", "until 4 h", "head 103",
                                            "until 5 h", "head 200", "text", "end"));
}

TEST_F(TimedReplay, SendsNoInterimHeadBehindADrawnFinalOne) {
  record("/", 6, {{0, "text"}}, "text/html", {3, 5});
  auto const rules = std::make_shared<ThinkRules>(1);
  rules->add(1, std::make_shared<ThinkRule>(ThinkRule{.change = {}, .draws = {hours(3)}}));
  auto drawn = kThink;
  drawn.rules = rules;
  EXPECT_THAT(get(drawn, "/"), ElementsAre("until 2 h", "head 103", "until 3 h", "head 103",
                                           "until 3 h", "head 200", "text", "end"));
}

TEST_F(TimedReplay, SendsAStreamPieceByPieceWithATimerEach) {
  record("/", 6, {{0, "one"}, {2, "two"}, {3, "three"}});
  EXPECT_THAT(get({}, "/"),
              ElementsAre("head 200", "one", "until 2 h", "two", "until 3 h", "three", "end"));
  EXPECT_THAT(get(kThink, "/"), ElementsAre("until 5 h", "head 200", "one", "until 2 h", "two",
                                            "until 3 h", "three", "end"));
}

TEST_F(TimedReplay, HasNoTimerForPiecesThatAreDueTogether) {
  record("/", 1, {{0, "a"}, {0, "b"}, {0, "c"}, {2, "d"}, {2, "e"}});
  EXPECT_THAT(get({}, "/"), ElementsAre("head 200", "abc", "until 2 h", "de", "end"));
}

TEST_F(TimedReplay, WakesOnceForAllStreamsThatHaveSomethingDueWithinAMillisecond) {
  using std::chrono::microseconds;
  WrittenLog::Time const start{hours(1)};
  std::set<WrittenLog::Time> wakes;
  for (int stream = 0; stream < 20; ++stream) {
    for (int event = 1; event <= 10; ++event) {
      auto const due = start + microseconds(10'000 * event + 40 * stream + 100);
      auto const wake = Schedule::wake_at(due);
      EXPECT_GE(wake, due) << "never early";
      EXPECT_LT(wake - due, Schedule::kTogether);
      wakes.insert(wake);
    }
  }
  EXPECT_THAT(wakes, SizeIs(10)) << "of 200 events";
}

TEST_F(TimedReplay, OfStreamsWaitsForWholeMilliseconds) {
  record("/stream", 1, {{0, "one"}, {2, "two"}, {3, "three"}});
  auto const before = std::chrono::steady_clock::now();
  get({}, "/stream");
  ASSERT_THAT(due_, SizeIs(2));
  EXPECT_GE(due_[0], before + hours(2));
  for (auto const at : due_) EXPECT_EQ(at, Schedule::wake_at(at));
}

TEST_F(TimedReplay, GivesEachRepeatOnceThoughItIsNotDueWhenItIsAskedFor) {
  record("/", 1, {{2, "first"}});
  record("/", 1, {{3, "second"}});
  ReplaySession& replayed = replay({});
  EXPECT_THAT(get(replayed, "/"), ElementsAre("head 200", "until 2 h", "first", "end"));
  EXPECT_THAT(get(replayed, "/"), ElementsAre("head 200", "until 3 h", "second", "end"));
  EXPECT_EQ(replayed.counts().hits, 2U);
  EXPECT_EQ(replayed.counts().exchanges_served, 2U);
}

TEST_F(TimedReplay, OfHeadRangesAndConditionsThinksAndPacesNothing) {
  record("/", 6, {{0, "one"}, {2, "two"}}, "text/html");
  EXPECT_THAT(get(kThink, "/", {}, "HEAD"), ElementsAre("until 5 h", "head 200", "end"));
  EXPECT_THAT(get(kThink, "/", {{.name = "Range", .value = "bytes=2-4"}}),
              ElementsAre("until 5 h", "head 206", "etw", "end"));
  EXPECT_THAT(get(kThink, "/", {{.name = "If-None-Match", .value = "\"x\""}}),
              ElementsAre("until 5 h", "head 304", "end"));
  EXPECT_THAT(get(kThink, "/", {{.name = "If-None-Match", .value = "\"y\""}}),
              ElementsAre("until 5 h", "all of 6"));
}

TEST_F(TimedReplay, EndsWithTheClient) {
  record("/", 6, {{0, "one"}, {2, "two"}, {3, "three"}});
  ReplaySession& replayed = replay(kThink);
  EXPECT_THAT(get(replayed, "/", {}, "GET", 1), ElementsAre("until 5 h"));
  EXPECT_THAT(get(replayed, "/", {}, "GET", 2),
              ElementsAre("until 5 h", "head 200", "one", "until 2 h"));
}

TEST_F(TimedReplay, CountsItsWaits) {
  record("/", 6, {{0, "one"}, {2, "two"}, {3, "three"}});
  record("/page", 1, {{0, "text"}}, "text/html");
  ReplaySession& replayed = replay(kThink);
  get(replayed, "/page");
  EXPECT_EQ(replayed.counts().think.waits + replayed.counts().pauses.waits, 0U);
  get(replayed, "/");
  EXPECT_EQ(replayed.counts().think.waits, 1U);
  EXPECT_EQ(replayed.counts().pauses.waits, 2U);
  EXPECT_EQ(replayed.report().timing.think.text(), "recorded");
  replayed.reset();
  EXPECT_EQ(replayed.counts().think.waits + replayed.counts().pauses.waits, 0U);
}

}  // namespace
}  // namespace reprise
