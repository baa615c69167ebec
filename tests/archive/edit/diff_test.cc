#include "archive/edit/diff.h"

#include <gmock/gmock.h>

#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Diff : public testing::Test {
 protected:
  std::filesystem::path archive_of(const char* name, const std::vector<Exchange>& exchanges) {
    auto const path = folder_ / name;
    std::filesystem::remove(path);
    auto const writer = create_archive(path);
    EXPECT_TRUE(writer->begin_session(a_session()));
    for (const Exchange& each : exchanges) add(*writer, each);
    EXPECT_TRUE(writer->close());
    return path;
  }

  static std::vector<Exchange> asked(const std::vector<std::string_view>& targets) {
    std::vector<Exchange> exchanges;
    for (auto const target : targets) {
      exchanges.push_back(an_exchange(exchanges.size() + 1, target));
    }
    return exchanges;
  }

  /// The numbers in both archives of what differs, "2,0 status" a line.
  std::vector<std::string> diff(const std::vector<Exchange>& a, const std::vector<Exchange>& b,
                                const DiffOptions& options = {}) {
    std::vector<std::string> lines;
    auto const in_a = open_archive(archive_of("a.reprise", a));
    auto const in_b = open_archive(archive_of("b.reprise", b));
    auto const counts =
        diff_archives(*in_a, *in_b, options,
                      [&lines](const DiffSide& one, const DiffSide& other,
                               const std::vector<Difference>& differences) {
                        auto line = std::to_string(one.number) + "," + std::to_string(other.number);
                        for (auto const each : differences)
                          line += " " + std::string(to_string(each));
                        lines.push_back(line);
                      });
    EXPECT_TRUE(counts);
    counts_ = counts.value_or(DiffCounts());
    return lines;
  }

  ScratchFolder folder_;
  DiffCounts counts_;
};

TEST_F(Diff, PairsRequestsThatDifferInVolatileValuesAlone) {
  auto const a = asked({"/", "/api?t=1732845600123&k=7", "/b?id=0123456789abcdef0123"});
  auto b = asked({"/b?id=fedcba98765432100000", "/", "/api?t=1732849999999&k=7"});
  EXPECT_THAT(diff(a, b), IsEmpty());
  EXPECT_EQ(counts_.same, 3U);
  EXPECT_FALSE(counts_.any_difference());
  EXPECT_THAT(counts_.volatile_names, ElementsAre("id", "t"));
  b[2].response.status = 404;
  b[2].response.reason = "Not Found";
  EXPECT_THAT(diff(a, b), ElementsAre("2,3 status"));
  EXPECT_EQ(counts_.changed, 1U);
}

TEST_F(Diff, DoesNotPairRequestsThatDifferInAnythingElse) {
  auto const a = asked({"/api?t=1732845600123&k=7"});
  for (std::string_view const other :
       {"/api?t=1732849999999&k=8", "/more?t=1732849999999&k=7", "/api?t=1732849999999",
        "/api?t=2&k=7", "/api?u=1732849999999&k=7"}) {
    EXPECT_THAT(diff(a, asked({other})), ElementsAre("1,0", "0,1")) << other;
    EXPECT_THAT(counts_.volatile_names, IsEmpty());
  }
  auto b = asked({"/api?t=1732849999999&k=7"});
  b[0].request.method = "POST";
  EXPECT_THAT(diff(a, b), ElementsAre("1,0", "0,1"));
  b = asked({"/api?t=1732849999999&k=7"});
  b[0].request.host = "b.test";
  EXPECT_THAT(diff(a, b), ElementsAre("1,0", "0,1"));
  b = asked({"/api?t=1732849999999&k=7"});
  b[0].request.scheme = Scheme::kHttp;
  EXPECT_THAT(diff(a, b), ElementsAre("1,0", "0,1"));
}

TEST_F(Diff, PairsVolatileValuesOneWithOneInRecordedOrder) {
  auto const two = asked({"/?t=1732845600123", "/?t=1732845600456"});
  EXPECT_THAT(diff(two, asked({"/?t=1732845600999"})), ElementsAre("2,0"));
  EXPECT_THAT(diff(asked({"/?t=1732845600999"}), two), ElementsAre("0,2"));
  // An equal request is the better partner.
  EXPECT_THAT(diff(two, asked({"/?t=1732845600123"})), ElementsAre("2,0"));
  EXPECT_THAT(diff(two, asked({"/?t=1732845600456"})), ElementsAre("1,0"));
  EXPECT_THAT(counts_.volatile_names, IsEmpty());
  std::vector<Exchange> many[2];
  for (int i = 0; i < 50; ++i) {
    for (int side = 0; side < 2; ++side) {
      auto const target = "/?t=" + std::to_string(1732845600000 + side * 500 + (i * 37) % 50);
      auto exchange = an_exchange(static_cast<std::uint64_t>(i) + 1, target);
      exchange.response.status = static_cast<std::uint16_t>(200 + i);
      many[side].push_back(exchange);
    }
  }
  EXPECT_THAT(diff(many[0], many[1]), IsEmpty()) << "the nth with the nth";
  EXPECT_EQ(counts_.same, 50U);
}

TEST_F(Diff, NamesParametersOfPairsThatCountAlone) {
  auto const a = asked({"/api?t=1732845600123", "/b?id=0123456789abcdef0123"});
  auto const b = asked({"/api?t=1732849999999", "/b?id=fedcba98765432100000"});
  auto const is_b = [](const Exchange& exchange, std::size_t) {
    return exchange.request.target.starts_with("/b");
  };
  EXPECT_THAT(diff(a, b, {.filter = is_b}), IsEmpty());
  EXPECT_EQ(counts_.same, 1U);
  EXPECT_THAT(counts_.volatile_names, ElementsAre("id"));
}

}  // namespace
}  // namespace reprise
