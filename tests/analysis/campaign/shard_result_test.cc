#include "analysis/campaign/shard_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/campaign/loads.h"

namespace reprise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string two_records() {
  auto header = header_of(3, "n1");
  header.records = 2;
  return header_line(header) +
         record_lines({.page = 4, .first_run = 11, .side = "A", .result = result_with(2)}) +
         record_lines({.page = 5,
                       .side = "B",
                       .advice = {{"schema", "reprise-advice/1"}},
                       .result = result_with(1)});
}

TEST(ShardResult, IsReadRecordByRecord) {
  auto const text = two_records();
  auto records = ShardRecords::open(text).value();
  EXPECT_EQ(records.header().node, "n1");
  EXPECT_EQ(records.header().shard, 3U);
  auto const first = records.next().value();
  EXPECT_EQ(first.page, 4U);
  EXPECT_EQ(first.first_run, 11U);
  EXPECT_TRUE(first.advice.empty());
  EXPECT_EQ(first.result.loads.size(), 3U);
  auto const second = records.next().value();
  EXPECT_EQ(second.side, "B");
  EXPECT_EQ(second.advice.at("schema"), "reprise-advice/1");
  EXPECT_FALSE(records.more());
}

TEST(ShardResult, ThatWasCutAnywhereIsAnError) {
  auto const text = two_records();
  for (std::size_t size = 0; size < text.size(); size += 97) {
    auto records = ShardRecords::open(std::string_view(text).substr(0, size));
    bool good = records.has_value();
    while (good && records->more()) good = records->next().has_value();
    EXPECT_FALSE(good) << size;
  }
}

TEST(ShardResult, OfANodeWhoseNameLeavesTheFolderIsRefused) {
  auto header = header_of(1, "n1");
  EXPECT_TRUE(read_header(header_line(header)));
  header.node = "../../n1";
  EXPECT_THAT(read_header(header_line(header)).error(), HasSubstr("without '/'"));
}

TEST(ShardResult, KeepsWhyPagesFailedAndStaysShort) {
  auto header = header_of(1, "n1");
  EXPECT_THAT(header_line(header), Not(HasSubstr("failures")));
  header.failures = {{.page = 4,
                      .name = {},
                      .side = "B",
                      .url = "https://a.test/",
                      .loads = 3,
                      .why = std::string(1'000, 'x')}};
  auto const again = read_header(header_line(header)).value();
  ASSERT_EQ(again.failures.size(), 1U);
  EXPECT_EQ(again.failures[0].page, 4U);
  EXPECT_EQ(again.failures[0].side, "B");
  EXPECT_EQ(again.failures[0].url, "https://a.test/");
  EXPECT_EQ(again.failures[0].loads, 3U);
  EXPECT_EQ(again.failures[0].why, std::string(300, 'x'));
  header.failures.resize(1'000, header.failures[0]);
  EXPECT_EQ(read_header(header_line(header)).value().failures.size(), ShardHeader::kFailuresMax);
}

TEST(ShardResult, OfAnotherKindIsRefused) {
  EXPECT_THAT(read_header(R"({"schema":"reprise-load/1"})").error(), HasSubstr("reprise-shard/1"));
  EXPECT_FALSE(read_header("x"));
}

}  // namespace
}  // namespace reprise
