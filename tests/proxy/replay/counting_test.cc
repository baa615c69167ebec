// What each kind of answer adds to the ledger.

#include "proxy/replay/counting.h"

#include <gtest/gtest.h>

#include "proxy/replay/response/stitched_files.h"
#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

using Kind = Answer::Kind;

/// One part of a file.
class OnePart : public RecordedArchive {
 public:
  OnePart() {
    auto part = exchange("GET", "/part", {{.name = "Content-Range", .value = "bytes 0-3/10"}});
    part.response.status = 206;
    part.failure = "no route";
    add(std::move(part), "0123");
  }
};

/// A ledger, and answers by the same exchange, whatever their kind.
class Counting : public testing::Test {
 protected:
  static void ignore(const StoredRequest&, const std::string&) {}

  /// An answer by the exchange.
  Answer of(Kind kind) {
    return {.kind = kind,
            .decision = {.kind = MatchKind::kExact, .ordinal = 0, .score = 100},
            .exchange = exchanges_.get(0),
            .parts = kind == Kind::kStitched ? files_.of(0) : nullptr};
  }
  ReplayCounts counts(const Answer& answer) {
    ledger_.reset();
    count(answer, asked_, HttpVersion::kHttp11, {}, ledger_);
    return ledger_.counts();
  }
  std::uint64_t special(const ReplayCounts& counts, Special special) {
    return counts.special[static_cast<std::size_t>(special)];
  }
  std::string why() const { return ledger_.special_answers().at(0).why; }

  OnePart archive_;
  PreparedExchanges exchanges_{archive_.reader(), {}, ignore};
  StitchedFiles files_{archive_.reader(), exchanges_, true, ignore};
  ReplayLedger ledger_{archive_.reader(), {true}};
  AskedRequest const asked_{.key = {.method = "GET",
                                    .scheme = Scheme::kHttps,
                                    .host = "a.test",
                                    .port = 443,
                                    .target = "/asked"}};
};

TEST_F(Counting, WhatARecordedExchangeAnswersIsAHit) {
  for (auto const kind : {Kind::kStored, Kind::kHead, Kind::kSelected, Kind::kStitched,
                          Kind::kBroken, Kind::kBrokenHead, Kind::kWebSocket}) {
    auto const counted = counts(of(kind));
    EXPECT_EQ(counted.hits, 1U);
    EXPECT_EQ(counted.exchanges_served, 1U);
    EXPECT_EQ(counted.misses, 0U);
    EXPECT_EQ(counted.derived, kind == Kind::kHead || kind == Kind::kSelected ? 1U : 0U);
    EXPECT_EQ(special(counted, Special::kStitched), kind == Kind::kStitched ? 1U : 0U);
    bool const broken = kind == Kind::kBroken || kind == Kind::kBrokenHead;
    EXPECT_EQ(special(counted, Special::kCut), broken ? 1U : 0U);
  }
}

TEST_F(Counting, AnInexactHitIsListed) {
  auto near = of(Kind::kStored);
  near.decision.kind = MatchKind::kFuzzy;
  near.decision.score = 80;
  EXPECT_EQ(counts(near).fuzzy_hits, 1U);
  EXPECT_EQ(ledger_.inexact_hits().at(0).url, "https://a.test/asked");
  auto other_scheme = of(Kind::kHead);
  other_scheme.decision.scheme_substituted = true;
  EXPECT_EQ(counts(other_scheme).scheme_substituted, 1U);
}

TEST_F(Counting, SaysWhyAnAnswerIsSpecial) {
  counts(of(Kind::kStitched));
  EXPECT_EQ(why(), "bytes 0-3 of 10, from 1 recorded parts");
  counts(of(Kind::kBroken));
  EXPECT_EQ(why(), "no route");
  Answer const made_up{.kind = Kind::kMadeUp,
                       .made_up = {.special = Special::kBrowser, .why = "favicon"}};
  auto const counted = counts(made_up);
  EXPECT_EQ(special(counted, Special::kBrowser), 1U);
  EXPECT_EQ(counted.hits + counted.misses, 0U);
  EXPECT_EQ(why(), "favicon");
}

TEST_F(Counting, CountsTheFormThatIsServed) {
  InjectionCount document;
  AlteredResponse altered{
      .rewritten = {.report = {.verdict = inject::Verdict::kRewritten, .added_wire_bytes = 7}},
      .count = &document};
  auto answer = of(Kind::kStored);
  answer.form.altered = &altered;
  answer.form.plain = true;
  // Served as it was recorded: it could not be altered.
  auto const as_recorded = counts(answer);
  EXPECT_EQ(as_recorded.injected + as_recorded.decoded, 0U);
  EXPECT_EQ(document.served, 1U);
  altered.response = std::make_unique<StoredResponse>("GET", StoredResponse::Parts());
  auto const counted = counts(answer);
  EXPECT_EQ(counted.injected, 1U);
  EXPECT_EQ(counted.injected_bytes, 7);
  EXPECT_EQ(counted.decoded, 1U);
  EXPECT_EQ(document.served, 2U);
}

TEST_F(Counting, WhatNothingAnswersIsAMiss) {
  auto const missed = counts({.kind = Kind::kMiss, .miss = {.reason = "not recorded"}});
  EXPECT_EQ(missed.misses, 1U);
  EXPECT_EQ(missed.damaged, 0U);
  EXPECT_EQ(ledger_.misses().at(0).reason, "not recorded");
  auto const damaged = counts({.kind = Kind::kDamaged, .miss = {.reason = "damaged"}});
  EXPECT_EQ(damaged.misses, 1U);
  EXPECT_EQ(damaged.damaged, 1U);
}

TEST_F(Counting, AMisdirectedRequestIsNeitherHitNorMiss) {
  auto const counted = counts({.kind = Kind::kMisdirected, .connection_host = "b.test"});
  EXPECT_EQ(counted.misdirected, 1U);
  EXPECT_EQ(counted.hits + counted.misses, 0U);
}

}  // namespace
}  // namespace reprise
