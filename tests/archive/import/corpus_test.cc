// Real recordings that others made. They are not ours to publish, so they are read where
// REPRISE_CORPUS names their folder; its INDEX.md has a table of files with the number of exchanges
// and of bodies that each holds.

#include <cstdlib>
#include <fstream>
#include <regex>

#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

namespace fs = std::filesystem;

struct Expected {
  std::string file;
  std::uint64_t exchanges = 0;
  std::uint64_t bodies = 0;
};

std::vector<Expected> read_index(const fs::path& folder) {
  std::vector<Expected> rows;
  std::ifstream index(folder / "INDEX.md");
  std::regex const row(R"(\| (\S+/\S+) \| (\d+)/(\d+) \|.*)");
  for (std::string line; std::getline(index, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) {
      rows.push_back({match[1], std::stoull(match[2]), std::stoull(match[3])});
    }
  }
  return rows;
}

class Corpus : public testing::Test {
 protected:
  Corpus() {
    if (const char* const named = std::getenv("REPRISE_CORPUS")) folder_ = named;
  }
  void SetUp() override {
    if (folder_.empty()) GTEST_SKIP() << "REPRISE_CORPUS names no folder";
  }
  std::optional<Fault> import(const fs::path& file, bool keep_going) {
    sink_ = {};
    Importer importer(sink_, keep_going);
    auto fault = importer.read_path(folder_ / file, nullptr);
    EXPECT_FALSE(importer.finish()) << file;
    report_ = importer.report();
    return fault;
  }

  fs::path folder_;
  CollectingSink sink_;
  ImportReport report_;
};

TEST_F(Corpus, EveryListedRecordingHasItsExchangesAndBodies) {
  auto const rows = read_index(folder_);
  ASSERT_GT(rows.size(), 30U);
  for (const Expected& row : rows) {
    if (auto const fault = import(row.file, false)) {
      // Some are listed though they are damaged: what can be read of them counts.
      EXPECT_THAT(fault->what, testing::HasSubstr("at byte ")) << row.file;
      import(row.file, true);
    }
    EXPECT_EQ(report_.exchanges, row.exchanges) << row.file;
    // The list counts a body at the record that holds it, not at those that point there; and those
    // that a browser shows with a 304.
    EXPECT_EQ(report_.bodies + report_.bodies_dropped - report_.revisits_resolved, row.bodies)
        << row.file;
  }
}

TEST_F(Corpus, EveryOtherFileIsImportedOrSaysWhyNot) {
  std::size_t files = 0;
  for (auto const& entry : fs::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file() || entry.file_size() > (32 << 20)) continue;
    ++files;
    auto const fault = import(fs::relative(entry.path(), folder_), true);
    if (fault) EXPECT_GT(fault->what.size(), 10U) << entry.path();
    for (const Exchange& exchange : sink_.exchanges) {
      EXPECT_FALSE(exchange.request.method.empty() || exchange.request.host.empty());
    }
  }
  EXPECT_GT(files, 100U);
}

}  // namespace
}  // namespace reprise::importing
