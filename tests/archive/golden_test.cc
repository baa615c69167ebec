#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "archive/match/match.h"
#include "tests/archive/archive_fixture.h"
#include "tests/archive/match/decided_kind.h"

namespace reprise {
namespace {

using testing::IsEmpty;

/// What the files in golden/ hold: two sessions, a body that is shared, each outcome.
void write_golden(const std::filesystem::path& path) {
  auto writer = create_archive(path);
  ASSERT_TRUE(writer->begin_session(a_session()));
  ASSERT_TRUE(writer->add_connection(a_connection(1)));
  add(*writer, a_full_exchange(*writer, 1));
  auto failed = an_exchange(2, "/failed");
  failed.outcome = Outcome::kOriginFailed;
  failed.response = {};
  failed.failure = "connect: Connection refused";
  add(*writer, failed);
  ASSERT_TRUE(writer->end_session());
  ASSERT_TRUE(writer->begin_session(a_session()));
  auto cut = an_exchange(1, "/cut");
  cut.outcome = Outcome::kCutByClient;
  cut.response.body = store(*writer, "<!doctype html><p>1");
  add(*writer, cut);
  auto plain = an_exchange(2, "/a?b=c");
  plain.request.scheme = Scheme::kHttp;
  plain.request.port = 80;
  plain.response.headers = {{.name = "Content-Type", .value = "text/css"},
                            {.name = "X-Terminal", .value = "\x1b[31mred\x1b[0m"}};
  plain.response.body = store(*writer, std::string(1000, 'a'));
  add(*writer, plain);
  ASSERT_TRUE(writer->end_session());
  ASSERT_TRUE(writer->close());
}

std::filesystem::path golden(const char* name) {
  return std::filesystem::path(GOLDEN_FOLDER) / name;
}

/// What today's writer makes.
std::filesystem::path golden_path() {
  return golden("v1-matching-2.reprise");
}

TEST(Golden, TodaysWriterMakesTheSameBytes) {
  ScratchFolder folder;
  write_golden(folder / "a");
  auto const today = read_file(folder / "a");
  // A new file, not a changed one, is right when a version goes up: the format's or an index's.
  if (!std::filesystem::exists(golden_path()) && std::getenv("REPRISE_WRITE_GOLDEN") != nullptr) {
    write_file(golden_path(), today);
  }
  EXPECT_TRUE(today == read_file(golden_path()));
}

class GoldenFile : public testing::TestWithParam<const char*> {};

TEST_P(GoldenFile, IsReadByTodaysReader) {
  ScratchFolder folder;
  write_golden(folder / "a");
  auto const expected = exchanges_of(*open_archive(folder / "a"));
  auto const reader = open_archive(golden(GetParam()));
  EXPECT_TRUE(reader->report().indexed);
  EXPECT_THAT(problems_of(*reader), IsEmpty());
  auto const found = exchanges_of(*reader);
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 0; i < found.size(); ++i) expect_same(found[i], expected[i]);
  EXPECT_EQ(load(*reader, found[0].request.body), "name=value");
  EXPECT_EQ(load(*reader, found[2].response.body), "<!doctype html><p>1");
  EXPECT_EQ(load(*reader, found[3].response.body), std::string(1000, 'a'));
  ASSERT_EQ(reader->sessions().size(), 2U);
  EXPECT_TRUE(reader->sessions()[0].complete);
  EXPECT_EQ(reader->connections().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(OfEachWriter, GoldenFile,
                         testing::Values("v1.reprise",           // without a match index
                                         "v1-matching.reprise",  // with one of version 1
                                         "v1-matching-2.reprise"));

TEST(Golden, WithAMatchIndexOfAnotherVersionIsMatchedThroughOneMadeInMemory) {
  for (auto const* const name : {"v1.reprise", "v1-matching.reprise", "v1-matching-2.reprise"}) {
    auto const reader = open_archive(golden(name));
    auto const stored = MatchIndexView::parse(reader->match_index(), reader->entries().size());
    EXPECT_EQ(stored.has_value(), golden(name) == golden_path()) << name;
    Matcher const matcher(*reader, 0);
    EXPECT_EQ(decided_kind(*reader, matcher, Scheme::kHttp, "/a?b=d"), MatchKind::kFuzzy) << name;
  }
}

/// The bytes of the hex dumps in FORMAT.md, by offset.
std::map<std::size_t, unsigned char> dumped_in_format_page() {
  std::ifstream page(FORMAT_PAGE);
  std::map<std::size_t, unsigned char> bytes;
  std::regex const dump("([0-9a-f]{8})((?: {1,2}[0-9a-f]{2})+)(?: .*)?");
  for (std::string line; std::getline(page, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, dump)) continue;
    auto offset = std::stoul(found[1], nullptr, 16);
    std::istringstream numbers(found[2]);
    for (std::string number; numbers >> number;) {
      bytes[offset++] = static_cast<unsigned char>(std::stoul(number, nullptr, 16));
    }
  }
  return bytes;
}

TEST(FormatPage, ShowsTheBytesThatTodaysWriterMakes) {
  ScratchFolder folder;
  {
    auto writer = create_archive(folder / "a");
    SessionInfo info;
    info.tool_version = "0";
    ASSERT_TRUE(writer->begin_session(info));
    Exchange exchange;
    exchange.request.method = "GET";
    exchange.request.host = "h";
    exchange.response.status = 200;
    exchange.response.body = store_in_chunks(*writer, {"one", "two"});
    for (auto const* target : {"/?a=1", "/?a=2", "/?a=2"}) {
      exchange.request.target = target;
      ++exchange.sequence;
      add(*writer, exchange);
    }
    ASSERT_TRUE(writer->end_session());
    ASSERT_TRUE(writer->close());
  }
  auto const file = read_file(folder / "a");
  auto const shown = dumped_in_format_page();
  ASSERT_GT(shown.size(), 100U);
  for (auto const& [offset, byte] : shown) {
    ASSERT_EQ(static_cast<unsigned char>(file.at(offset)), byte) << std::hex << offset;
  }
}

}  // namespace
}  // namespace reprise
