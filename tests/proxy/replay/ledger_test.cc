#include "proxy/replay/ledger.h"

#include <gmock/gmock.h>

#include "archive/writer.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A ledger of an archive of /1 to /5, the last of them cut.
class Ledger : public testing::Test {
 protected:
  Ledger() {
    auto const writer = ArchiveWriter::create(folder_ / "a", {}).value();
    EXPECT_TRUE(writer->begin_session({}));
    for (std::uint64_t i = 1; i <= 5; ++i) {
      Exchange exchange;
      exchange.sequence = i;
      exchange.request.method = "GET";
      exchange.request.scheme = Scheme::kHttps;
      exchange.request.host = "a.test";
      exchange.request.port = 443;
      exchange.request.target = "/" + std::to_string(i);
      exchange.response.status = 200;
      exchange.response.version = HttpVersion::kH2;
      exchange.outcome = i < 5 ? Outcome::kComplete : Outcome::kCutByClient;
      EXPECT_TRUE(writer->add_exchange(std::move(exchange)));
    }
    EXPECT_TRUE(writer->close());
    reader_ = ArchiveReader::open(folder_ / "a", {}).value();
    ledger_ = std::make_unique<ReplayLedger>(*reader_, servable());
  }

  std::vector<bool> servable() const {
    std::vector<bool> complete;
    for (const IndexEntry& entry : reader_->entries()) {
      complete.push_back(entry.outcome == Outcome::kComplete);
    }
    return complete;
  }
  std::uint32_t ordinal(std::uint64_t sequence) const {
    return reader_->ordinals_in_order()[sequence - 1];
  }
  void serve(std::uint64_t sequence, unsigned score = 100, bool substituted = false,
             std::string_view asked_target = "/asked?t=2") {
    Decision const decision{.kind = score == 100 ? MatchKind::kExact : MatchKind::kFuzzy,
                            .ordinal = ordinal(sequence),
                            .score = score,
                            .scheme_substituted = substituted};
    auto const exchange = reader_->exchange(decision.ordinal).value();
    ledger_->add_hit(decision, exchange, HttpVersion::kH2);
    if (score < 100 || substituted) {
      ledger_->add_inexact_hit(decision, exchange, asked(asked_target), {});
    }
  }
  static AskedRequest asked(std::string_view target) {
    return {.key = {.method = "GET",
                    .scheme = Scheme::kHttps,
                    .host = "a.test",
                    .port = 443,
                    .target = target}};
  }
  void miss(std::string_view target) {
    auto const request = asked(target);
    ledger_->add_miss(request, ReplayLedger::miss_of(request, "not recorded", {}));
  }
  void damaged(std::string_view target) {
    auto const request = asked(target);
    ledger_->add_damaged(request, ReplayLedger::miss_by_damage(request, "its body"));
  }
  std::vector<std::uint64_t> moved() const {
    std::vector<std::uint64_t> sequences;
    for (auto const at : ledger_->out_of_order()) {
      sequences.push_back(ledger_->name_of(at).sequence);
    }
    return sequences;
  }
  std::vector<std::string> unasked(std::size_t max = 100) const {
    std::vector<std::string> urls;
    for (auto const& each : ledger_->never_asked_for(max)) urls.push_back(each.url);
    return urls;
  }

  ScratchFolder folder_;
  std::unique_ptr<ArchiveReader> reader_;
  std::unique_ptr<ReplayLedger> ledger_;
};

TEST_F(Ledger, CountsWhatWasServedAndWhatWasNot) {
  EXPECT_EQ(ledger_->counts().exchanges_servable, 4U);
  serve(1);
  serve(1);
  serve(2, 80);
  serve(3, 100, true);
  miss("/none");
  miss("/none");
  damaged("/damaged");
  auto const counts = ledger_->counts();
  EXPECT_EQ(counts.hits, 4U);
  EXPECT_EQ(counts.fuzzy_hits, 1U);
  EXPECT_EQ(counts.scheme_substituted, 1U);
  EXPECT_EQ(counts.misses, 3U);
  EXPECT_EQ(counts.damaged, 1U);
  EXPECT_EQ(counts.exchanges_served, 3U);
  ASSERT_EQ(ledger_->misses().size(), 2U);
  EXPECT_EQ(ledger_->misses()[0].count, 2U);
  EXPECT_THAT(unasked(), ElementsAre("https://a.test/4"));
}

TEST_F(Ledger, CountsNoSynthesisOfWhatFailedAsRecorded) {
  auto exchange = reader_->exchange(ordinal(1)).value();
  Decision const decision{.kind = MatchKind::kExact, .ordinal = ordinal(1), .score = 100};
  ledger_->add_hit(decision, exchange, HttpVersion::kHttp11);
  EXPECT_EQ(ledger_->synthesised().served_as_h1, 1U);
  exchange.response = {};
  ledger_->add_hit(decision, exchange, HttpVersion::kHttp11);
  EXPECT_EQ(ledger_->synthesised().served_as_h1, 1U);
}

TEST_F(Ledger, MeansConfidenceOverHitsAndMisses) {
  EXPECT_EQ(ledger_->counts().confidence, 100);
  serve(1);
  EXPECT_EQ(ledger_->counts().confidence, 100);
  serve(2, 80);
  EXPECT_EQ(ledger_->counts().confidence, 90);
  miss("/none");
  EXPECT_EQ(ledger_->counts().confidence, 60);
}

TEST_F(Ledger, ExplainsInexactHitsOnceEach) {
  serve(1, 90);
  serve(2, 70);
  serve(3, 80, true, "/other");
  auto const hits = ledger_->inexact_hits();
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].url, "https://a.test/asked?t=2");
  EXPECT_EQ(hits[0].recorded_url, "https://a.test/1");
  EXPECT_EQ(hits[0].count, 2U);
  EXPECT_EQ(hits[0].score, 70U);
  EXPECT_THAT(hits[0].differences, ElementsAre("query parameter t is new: 2"));
  EXPECT_FALSE(hits[0].scheme_substituted);
  EXPECT_TRUE(hits[1].scheme_substituted);
}

TEST_F(Ledger, NamesTheFewestThatCameInAnotherOrder) {
  EXPECT_THAT(moved(), IsEmpty());
  for (auto const sequence : {1, 2, 4, 3}) serve(static_cast<std::uint64_t>(sequence));
  EXPECT_EQ(moved().size(), 1U);
  ledger_->reset();
  for (auto const sequence : {4, 1, 2, 3}) serve(static_cast<std::uint64_t>(sequence));
  EXPECT_THAT(moved(), ElementsAre(4U));
  ledger_->reset();
  for (auto const sequence : {2, 3, 4, 1, 2}) serve(static_cast<std::uint64_t>(sequence));
  EXPECT_THAT(moved(), ElementsAre(1U));
  ledger_->reset();
  for (auto const sequence : {4, 3, 2, 1}) serve(static_cast<std::uint64_t>(sequence));
  EXPECT_EQ(moved().size(), 3U);
}

TEST_F(Ledger, ForgetsAllWhenReset) {
  serve(1, 50);
  miss("/none");
  ledger_->reset();
  auto const counts = ledger_->counts();
  EXPECT_EQ(counts.hits + counts.misses + counts.fuzzy_hits + counts.exchanges_served, 0U);
  EXPECT_EQ(counts.confidence, 100);
  EXPECT_THAT(ledger_->misses(), IsEmpty());
  EXPECT_THAT(ledger_->inexact_hits(), IsEmpty());
  EXPECT_EQ(unasked().size(), 4U);
  EXPECT_EQ(unasked(2).size(), 2U);
}

TEST_F(Ledger, TakesAHitBackThatTurnedOutDamaged) {
  serve(1);
  ledger_->turn_hit_into_miss(reader_->exchange(ordinal(1))->request, "damaged");
  EXPECT_EQ(ledger_->counts().hits, 0U);
  EXPECT_EQ(ledger_->counts().misses, 1U);
  EXPECT_EQ(ledger_->counts().damaged, 1U);
}

}  // namespace
}  // namespace reprise
