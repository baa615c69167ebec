// What is sent of each kind of answer, whatever chose it.

#include "proxy/replay/sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "tests/proxy/replay/recorded_archive.h"
#include "tests/proxy/replay/written_log.h"

namespace reprise {
namespace {

using Kind = Answer::Kind;
using testing::ElementsAre;
using testing::StartsWith;

/// What a client cut an hour after it had asked.
class CutByClient : public RecordedArchive {
 public:
  CutByClient() {
    auto cut = exchange("GET", "/", {{.name = "Content-Length", .value = "10"}});
    cut.outcome = Outcome::kCutByClient;
    cut.timings.queued = std::chrono::hours(1);
    cut.timings.end = std::chrono::hours(2);
    add(std::move(cut), "0123");
  }
};

class Sending : public testing::Test {
 protected:
  static void ignore(const StoredRequest&, const std::string&) {}

  Answer of(Kind kind) {
    auto exchange = exchanges_.get(0);
    return {.kind = kind,
            .decision = {.kind = MatchKind::kExact, .ordinal = 0, .score = 100},
            .exchange = exchange,
            .form = {.response = {exchange, exchange->response()}}};
  }
  /// What the client gets. An error is the last line.
  std::vector<std::string> send(const Answer& answer) {
    RequestHead const head{.method = "GET", .host = "b.test", .target = "/"};
    auto const now = std::chrono::steady_clock::now();
    WrittenLog log(now);
    NoBody body;
    Sender const sender(ledger_, web_sockets_, empty_misses_);
    net::io_context loop(1);
    net::co_spawn(loop, sender.send(answer, head, now, body, log),
                  [&log](std::exception_ptr broken, const Result<void>& sent) {
                    if (broken) std::rethrow_exception(broken);
                    if (!sent) log.lines.emplace_back("error");
                  });
    loop.run();
    return log.lines;
  }

  bool empty_misses_ = false;
  CutByClient archive_;
  PreparedExchanges exchanges_{
      archive_.reader(),
      {.timing = {.think = {.kind = ThinkTime::Kind::kFixed, .fixed = std::chrono::hours(6)}}},
      ignore};
  ReplayLedger ledger_{archive_.reader(), {true}};
  WebSocketReplay web_sockets_{archive_.reader()};
};

TEST_F(Sending, WhatAnExchangeAnswersGoesOutByItsSchedule) {
  EXPECT_THAT(send(of(Kind::kStored)), ElementsAre("until 6 h", "all of 4"));
  EXPECT_THAT(send(of(Kind::kHead)), ElementsAre("until 6 h", "head 200", "end"));
  auto part = of(Kind::kSelected);
  part.selected = {.kind = Selected::Kind::kParts, .ranges = {{.begin = 1, .end = 3}}};
  EXPECT_THAT(send(part), ElementsAre("until 6 h", "head 206", "12", "end"));
  part.selected.head_only = true;
  EXPECT_THAT(send(part), ElementsAre("until 6 h", "head 206", "end"));
  part.selected.ranges.push_back({.begin = 0, .end = 1});
  EXPECT_THAT(send(part), ElementsAre("until 6 h", "head 206", "end"));
  EXPECT_EQ(ledger_.counts().think.waits, 5U);
  EXPECT_EQ(ledger_.counts().hits, 0U);  // who sends does not count
}

TEST_F(Sending, WhatWasCutHasNoEndButToHead) {
  EXPECT_THAT(send(of(Kind::kBroken)),
              ElementsAre("until 6 h", "head 200", "0123", "until 1 h", "error"));
  EXPECT_THAT(send(of(Kind::kBrokenHead)), ElementsAre("until 6 h", "head 200", "end"));
  auto failed = of(Kind::kBroken);
  failed.form = {};
  EXPECT_THAT(send(failed), ElementsAre("until 1 h", "error"));
}

TEST_F(Sending, WhatNobodyRecordedIsSentAtOnce) {
  Answer const text{.kind = Kind::kMadeUp, .made_up = {.status = 200, .body = "success"}};
  EXPECT_THAT(send(text), ElementsAre("head 200", "success", "end"));
  Answer const nothing{.kind = Kind::kMadeUp, .made_up = {.status = 204}};
  EXPECT_THAT(send(nothing), ElementsAre("head 204", "end"));
}

TEST_F(Sending, AMissSaysWhatCameNear) {
  for (auto const kind : {Kind::kMiss, Kind::kDamaged}) {
    Answer const answer{.kind = kind,
                        .miss = {.method = "GET",
                                 .url = "https://a.test/x",
                                 .reason = "not recorded",
                                 .nearest = {{.url = "https://a.test/y", .why = "path"}}}};
    EXPECT_THAT(send(answer), ElementsAre("head 404",
                                          "reprise: not recorded: GET https://a.test/x\n"
                                          "near: https://a.test/y (path)\n",
                                          "end"));
  }
  empty_misses_ = true;
  EXPECT_THAT(send({.kind = Kind::kMiss, .miss = {.reason = "not recorded"}}),
              ElementsAre("head 404", "end"));
}

TEST_F(Sending, AMisdirectedRequestIsToldWhoseConnectionItIs) {
  Answer const answer{.kind = Kind::kMisdirected, .connection_host = "a.test"};
  EXPECT_THAT(send(answer), ElementsAre("head 421",
                                        StartsWith("reprise: b.test cannot be requested on a "
                                                   "connection to a.test"),
                                        "end"));
}

}  // namespace
}  // namespace reprise
