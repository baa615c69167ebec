#include "archive/match/match.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "archive/match/agreement.h"
#include "archive/match/key_hasher.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr std::uint64_t kKeyHashOfExample = 0x6d79ed4634678e05;
constexpr std::uint64_t kPathHashOfExample = 0xcd4a30d1e21f8d37;

/// Builds an archive step by step, then replays it.
class Matching : public testing::Test {
 protected:
  void begin() { ASSERT_TRUE(writer().begin_session({})); }
  void end() { ASSERT_TRUE(writer().end_session()); }
  void record(std::string_view target, Outcome outcome = Outcome::kComplete) {
    auto exchange = an_exchange(++sequence_, target);
    exchange.outcome = outcome;
    // The number of the answer, told by its status.
    exchange.response.status = static_cast<std::uint16_t>(++recorded_);
    add(writer(), std::move(exchange));
  }
  void record_with(std::string_view target, std::initializer_list<HeaderView> fields) {
    auto exchange = an_exchange(++sequence_, target);
    exchange.request.headers = Headers(fields);
    exchange.response.status = static_cast<std::uint16_t>(++recorded_);
    add(writer(), std::move(exchange));
  }
  void replay(std::uint32_t session = 0, MatchRules rules = {}) {
    ASSERT_TRUE(writer().close());
    reader_ = open_archive(path_);
    matcher_.emplace(*reader_, session, std::move(rules));
    cursors_.emplace(reader_->entries().size());
  }
  /// The number of the recorded answer, 0 for a miss.
  int ask(const MatchKey& key, HeaderList headers = {}) {
    auto const decision = matcher_->match(key, headers, *cursors_, [&](std::uint32_t ordinal) {
      ++looked_at_;
      auto const exchange = reader_->exchange(ordinal);
      auto const recorded = key_of(exchange->request);
      return recorded.method == key.method && recorded.target == key.target &&
             recorded.host == key.host && recorded.scheme == key.scheme &&
             recorded.port == key.port && recorded.body_digest == key.body_digest;
    });
    if (decision.kind == MatchKind::kMiss) return 0;
    return reader_->exchange(decision.ordinal)->response.status;
  }
  int ask(std::string_view target) { return ask(key(target)); }
  static MatchKey key(std::string_view target) {
    return {.method = "GET",
            .scheme = Scheme::kHttps,
            .host = "example.org",
            .port = 443,
            .target = target};
  }
  ArchiveWriter& writer() {
    if (!writer_) writer_ = create_archive(path_);
    return *writer_;
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
  std::unique_ptr<ArchiveWriter> writer_;
  std::uint64_t sequence_ = 0;
  int recorded_ = 0;
  std::unique_ptr<ArchiveReader> reader_;
  std::optional<Matcher> matcher_;
  std::optional<SequenceCursors> cursors_;
  int looked_at_ = 0;
};

TEST_F(Matching, GivesTheMostAlikeOfRepeatsEachTime) {
  begin();
  record_with("/a", {{"Accept", "x/1"}, {"Cookie", "a=1"}});
  record_with("/a", {{"Accept", "x/1"}, {"Cookie", "a=2"}});
  record_with("/a", {{"Accept", "x/2"}, {"Cookie", "a=1"}});
  record("/b");
  replay(0, {.repeats = Repeats::kMostAlike});
  auto const asked = [this](std::string_view accept, std::string_view cookie) {
    std::array const fields{HeaderView{.name = "accept", .value = accept},
                            HeaderView{.name = "cookie", .value = cookie}};
    return ask(key("/a"), fields);
  };
  EXPECT_EQ(asked("x/1", "a=2"), 2);
  EXPECT_EQ(asked("x/1", "a=2"), 2);
  EXPECT_EQ(asked("x/2", "a=1"), 3);
  EXPECT_EQ(asked("x/1", "a=1"), 1);
  EXPECT_EQ(asked("x/3", "a=3"), 1) << "the first of equals";
  EXPECT_EQ(ask("/b"), 4);
  EXPECT_EQ(ask("/c"), 0);
}

TEST(Agreement, CountsNamesWithEqualValues) {
  Headers const recorded{{"Host", "a"}, {"Accept", "x"}, {"X-Two", "1"}, {"x-two", "2"}};
  EXPECT_DOUBLE_EQ(agreement(recorded.list(), recorded.list()), 2.0 * 3 / 4);
  Headers const one_of_two{{"accept", "x"}, {"X-Two", "1"}};
  EXPECT_DOUBLE_EQ(agreement(recorded.list(), one_of_two.list()), 2.0 * 2 / 4);
  EXPECT_DOUBLE_EQ(agreement(recorded.list(), {}), 2.0 * 1 / 2);
  EXPECT_DOUBLE_EQ(agreement({}, {}), 2.0);
}

TEST_F(Matching, NeedsEveryPartOfTheKey) {
  begin();
  record("/a?x=1");
  replay();
  EXPECT_EQ(ask("/a?x=1"), 1);
  auto other = key("/a?x=1");
  other.method = "POST";
  EXPECT_EQ(ask(other), 0);
  other = key("/a?x=1");
  other.scheme = Scheme::kHttp;
  EXPECT_EQ(ask(other), 0);
  other = key("/a?x=1");
  other.host = "example.com";
  EXPECT_EQ(ask(other), 0);
  other = key("/a?x=1");
  other.port = 8443;
  EXPECT_EQ(ask(other), 0);
  EXPECT_EQ(ask("/a?x=2"), 0);
  EXPECT_EQ(ask("/a"), 0);
  other = key("/a?x=1");
  other.body_digest[31] = std::byte{1};
  EXPECT_EQ(ask(other), 0);
}

TEST_F(Matching, FindsARequestWhoseBodyWasTakenInPartWithoutIt) {
  begin();
  auto exchange = an_exchange(1, "/upload");
  exchange.response.status = 7;
  exchange.request.body = store(writer(), "as much as came before the answer");
  exchange.request.body_partial = true;
  add(writer(), exchange);
  replay();
  EXPECT_TRUE(reader_->exchange(0)->request.body_partial);
  EXPECT_EQ(ask("/upload"), 7);
  auto with_body = key("/upload");
  with_body.body_digest = exchange.request.body.digest;
  EXPECT_EQ(ask(with_body), 0);
}

TEST_F(Matching, ServesRepeatsInRecordedOrderAndThenTheLastOne) {
  begin();
  record("/a");
  record("/b");
  record("/a");
  record("/a");
  replay();
  EXPECT_EQ(ask("/a"), 1);
  EXPECT_EQ(ask("/a"), 3);
  EXPECT_EQ(ask("/b"), 2);
  EXPECT_EQ(ask("/a"), 4);
  EXPECT_EQ(ask("/a"), 4);
  EXPECT_EQ(ask("/b"), 2);
  cursors_->reset();
  EXPECT_EQ(ask("/a"), 1);
}

TEST_F(Matching, GivesEachClientSessionASequenceOfItsOwn) {
  begin();
  record("/a");
  record("/a");
  replay();
  EXPECT_EQ(ask("/a"), 1);
  cursors_.emplace(reader_->entries().size());  // another client's
  EXPECT_EQ(ask("/a"), 1);
}

TEST_F(Matching, PassesOverWhatIsNotCompleteWhereThatIsWanted) {
  begin();
  record("/a", Outcome::kCutByClient);
  record("/a");
  record("/a", Outcome::kOriginFailed);
  record("/a");
  record("/a", Outcome::kCutByOrigin);
  record("/b", Outcome::kCutByOrigin);
  replay(0, {.failures = false});
  EXPECT_EQ(ask("/a"), 2);
  EXPECT_EQ(ask("/a"), 4);
  EXPECT_EQ(ask("/a"), 4);
  EXPECT_EQ(ask("/b"), 0);
}

TEST_F(Matching, AnswersFromTheLastCompleteSessionUnlessToldOtherwise) {
  for (int session = 1; session <= 3; ++session) {
    begin();
    record("/a");
    if (session < 3) end();
  }
  replay();
  EXPECT_EQ(matcher_->session(), 2U);
  EXPECT_EQ(ask("/a"), 2);
  EXPECT_EQ(ask("/a"), 2) << "a sequence stays within its session";
  matcher_.emplace(*reader_, 3);
  cursors_->reset();
  EXPECT_EQ(ask("/a"), 3);
  matcher_.emplace(*reader_, 4);
  EXPECT_EQ(ask("/a"), 0);
}

TEST_F(Matching, AnswersFromTheLastSessionWhenNoneIsComplete) {
  begin();
  record("/a");
  begin();
  record("/a");
  replay();
  EXPECT_EQ(matcher_->session(), 2U);
  EXPECT_EQ(ask("/a"), 2);
}

TEST_F(Matching, LooksAtTwoExchangesHoweverLongTheSequence) {
  begin();
  constexpr int kRepeats = 5'000;
  for (int i = 0; i < kRepeats; ++i) record("/a", Outcome::kCutByClient);
  for (int i = 0; i < kRepeats; ++i) record("/a");
  for (int i = 0; i < kRepeats; ++i) record("/a", Outcome::kCutByClient);
  replay();
  for (int i = 1; i <= kRepeats + 10; ++i) {
    looked_at_ = 0;
    ASSERT_EQ(ask("/a"), kRepeats + std::min(i, kRepeats));
    ASSERT_LE(looked_at_, 2);
  }
}

TEST_F(Matching, ComparesTheOriginOfTwoHoweverLongTheSequence) {
  begin();
  constexpr int kRepeats = 1'000;
  for (int i = 0; i < kRepeats; ++i) record("/a");
  replay();
  int looked_at = 0;
  auto const look = [&looked_at](std::uint32_t) {
    ++looked_at;
    return true;
  };
  auto const any = [](std::uint32_t) { return true; };
  for (int i = 0; i < kRepeats + 10; ++i) {
    looked_at = 0;
    EXPECT_EQ(matcher_->match(key("/a"), {}, *cursors_, any, any, look).kind, MatchKind::kExact);
    EXPECT_LE(looked_at, 2);
  }
}

TEST_F(Matching, GivesUpAmongManyThatOnlyShareTheHash) {
  begin();
  for (int i = 0; i < 1'000; ++i) record("/a");
  replay();
  auto const decision = matcher_->match(key("/a"), {}, *cursors_, [this](std::uint32_t) {
    ++looked_at_;
    return false;
  });
  EXPECT_EQ(decision.kind, MatchKind::kMiss);
  EXPECT_LE(looked_at_, static_cast<int>(Matcher::kCandidatesMax) + 1);
}

TEST_F(Matching, LeavesASequenceWhereItIsForWhoDoesNotTakeWhatIsNext) {
  begin();
  record("/a");
  record("/a");
  replay();
  std::vector<int> offered;
  auto const same = [](std::uint32_t) { return true; };
  auto const refuse = [&](std::uint32_t ordinal) {
    offered.push_back(reader_->exchange(ordinal)->response.status);
    return false;
  };
  EXPECT_EQ(matcher_->match(key("/a"), {}, *cursors_, same, refuse).kind, MatchKind::kMiss);
  EXPECT_EQ(ask("/a"), 1);
  EXPECT_EQ(matcher_->match(key("/a"), {}, *cursors_, same, refuse).kind, MatchKind::kMiss);
  EXPECT_EQ(ask("/a"), 2);
  EXPECT_EQ(matcher_->match(key("/a"), {}, *cursors_, same, refuse).kind, MatchKind::kMiss);
  EXPECT_EQ(offered, (std::vector{1, 2, 2}));
}

TEST_F(Matching, GivesThreadsEachElementOfASequenceOnce) {
  begin();
  constexpr std::size_t kRepeats = 4'000;
  for (std::size_t i = 0; i < kRepeats; ++i) record("/a");
  replay();
  std::vector<std::vector<std::uint32_t>> answers(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : answers) {
      threads.emplace_back([this, &mine] {
        for (std::size_t i = 0; i < kRepeats / 4; ++i) {
          mine.push_back(
              matcher_->match(key("/a"), {}, *cursors_, [](std::uint32_t) { return true; })
                  .ordinal);
        }
      });
    }
  }
  std::vector<std::uint32_t> all;
  for (auto const& mine : answers) all.insert(all.end(), mine.begin(), mine.end());
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), kRepeats);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST_F(Matching, HashesAsTheFormatSays) {
  // FORMAT.md: FNV-1a 64 over length-prefixed parts, then fmix64. Computed apart from this code.
  EXPECT_EQ(key_hash(key("/a?x=1")), kKeyHashOfExample);
  EXPECT_EQ(path_hash("example.org", "/a?x=1"), kPathHashOfExample);
  EXPECT_EQ(path_hash("example.org", "/a"), path_hash("example.org", "/a?x=1"));
  EXPECT_NE(path_hash("example.org", "/a"), path_hash("example.or", "g/a"));
}

TEST(KeyHash, IsThatOfEachByteInTurn) {
  std::string const long_target(70'000, 't');
  Sha256 digest{};
  digest.back() = std::byte{7};
  for (std::string_view const target : {std::string_view("/"), std::string_view(long_target)}) {
    for (std::uint16_t const port : {0, 80, 255, 256, 443, 65535}) {
      for (const Sha256& body_digest : {Sha256{}, digest}) {
        std::uint64_t hash = 0xcbf29ce484222325;
        auto const add = [&hash](unsigned byte) { hash = (hash ^ byte) * 0x100000001b3; };
        auto const add_number = [&add](std::size_t number) {
          for (int shift = 0; shift < 32; shift += 8) add(number >> shift & 0xff);
        };
        auto const add_text = [&](std::string_view text) {
          add_number(text.size());
          for (char const c : text) add(static_cast<unsigned char>(c));
        };
        add_text("GET");
        add(static_cast<unsigned>(Scheme::kHttps));
        add_text("a.test");
        add_number(port);
        add_text(target);
        for (auto const byte : body_digest) add(std::to_integer<unsigned>(byte));
        EXPECT_EQ(key_hash({.method = "GET",
                            .scheme = Scheme::kHttps,
                            .host = "a.test",
                            .port = port,
                            .target = target,
                            .body_digest = body_digest}),
                  mixed(hash))
            << port << " " << target.size();
      }
    }
  }
}

class Nearest : public Matching {
 protected:
  std::vector<std::string> reasons(const MatchKey& key) {
    std::vector<std::string> all;
    for (auto const& miss : matcher_->nearest({.key = key})) all.push_back(miss.why);
    return all;
  }
};

TEST_F(Nearest, SaysWhatDiffers) {
  begin();
  record("/query?t=1&u=2");
  record("/cut", Outcome::kCutByClient);
  record("/failed", Outcome::kOriginFailed);
  record("/flag?debug");
  end();
  begin();
  record("/other");
  end();
  replay(1);
  EXPECT_THAT(reasons(key("/query?t=3&u=2")), ElementsAre("query parameter t differs: 1 -> 3"));
  EXPECT_THAT(reasons(key("/query?u=2")), ElementsAre("query parameter t is missing: it was 1"));
  EXPECT_THAT(reasons(key("/query?t=1&u=2&v=9")), ElementsAre("query parameter v is new: 9"));
  EXPECT_THAT(reasons(key("/query?t=5&u=6")),
              ElementsAre("query parameter t differs: 1 -> 5 (and 1 more)"));
  EXPECT_THAT(reasons(key("/query?u=2&t=1")),
              ElementsAre("the query is written differently: t=1&u=2"));
  EXPECT_THAT(reasons(key("/flag")), ElementsAre("query parameter debug is missing"));
  EXPECT_THAT(reasons(key("/cut")), ElementsAre("the recording was cut by the client"));
  EXPECT_THAT(reasons(key("/failed")), ElementsAre("the origin failed when it was recorded"));
  EXPECT_THAT(reasons(key("/other")), ElementsAre("recorded in session 2, replaying session 1"));
  auto other = key("/query?t=1&u=2");
  other.method = "POST";
  EXPECT_THAT(reasons(other), ElementsAre("method is GET, not POST"));
  other = key("/query?t=1&u=2");
  other.scheme = Scheme::kHttp;
  other.port = 80;
  EXPECT_THAT(reasons(other), ElementsAre("scheme is https, not http"));
  other = key("/query?t=1&u=2");
  other.port = 8443;
  EXPECT_THAT(reasons(other), ElementsAre("port is 443, not 8443"));
  other = key("/query?t=1&u=2");
  other.body_digest[0] = std::byte{1};
  EXPECT_THAT(reasons(other), ElementsAre("request body differs"));
  EXPECT_THAT(reasons(key("/query?t=1&u=2")), IsEmpty()) << "that is no miss";
  EXPECT_THAT(reasons(key("/elsewhere")), IsEmpty());
}

TEST_F(Nearest, NamesTheNearestFirst) {
  begin();
  record("/q?a=9&b=9&c=9");
  record("/q?a=1&b=9&c=9");
  record("/q?a=1&b=2&c=9");
  replay();
  auto const misses = matcher_->nearest({.key = key("/q?a=1&b=2&c=3")});
  EXPECT_THAT(misses, ElementsAre(Field(&NearMiss::url, "https://example.org/q?a=1&b=2&c=9"),
                                  Field(&NearMiss::url, "https://example.org/q?a=1&b=9&c=9"),
                                  Field(&NearMiss::url, "https://example.org/q?a=9&b=9&c=9")));
}

TEST_F(Nearest, NamesFewOutOfManyAndARepeatOnlyOnce) {
  begin();
  for (int i = 0; i < 1'000; ++i) record("/q?x=repeated");
  for (int i = 0; i < 1'000; ++i) record("/q?x=" + std::to_string(i));
  replay();
  auto const misses = matcher_->nearest({.key = key("/q?x=none")});
  EXPECT_EQ(misses.size(), Matcher::kNearMissesMax);
  EXPECT_LE(std::ranges::count(misses, "https://example.org/q?x=repeated", &NearMiss::url), 1);
}

TEST_F(Nearest, CutsLongValuesShort) {
  begin();
  record("/q?x=" + std::string(100'000, 'a'));
  replay();
  auto const asked = "/q?x=" + std::string(100'000, 'b');
  auto const misses = matcher_->nearest({.key = key(asked)});
  ASSERT_EQ(misses.size(), 1U);
  EXPECT_LT(misses[0].why.size(), 200U);
}

}  // namespace
}  // namespace reprise
