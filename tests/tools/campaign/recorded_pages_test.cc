#include "tools/campaign/recorded_pages.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "tests/analysis/campaign/plans.h"

namespace reprise {
namespace {

/// Of a shard with the pages page0, page1 and page2.
RecordedPages recorded_of(const std::string& pages) {
  auto const plan = plan_with("", 3);
  Shard shard;
  for (std::size_t page = 0; page < 3; ++page) {
    shard.parts.emplace_back();
    shard.parts.back().page = page;
  }
  auto const corpus = boost::json::parse(R"({"pages":[)" + pages + "]}");
  return recorded_pages(plan, shard, corpus.as_object());
}

std::string recorded(const std::string& name) {
  return R"({"name":")" + name + R"(","archive":")" + name + R"(.reprise","failure":""})";
}

std::string failed(const std::string& name) {
  return R"({"name":")" + name + R"(","archive":null,"failure":"no such host"})";
}

TEST(RecordedPages, AreAllRecorded) {
  auto const pages =
      recorded_of(recorded("page0") + "," + recorded("page1") + "," + recorded("page2"));
  EXPECT_EQ(pages.unreached, 0U);
  EXPECT_TRUE(pages.failures.empty());
}

TEST(RecordedPages, HaveTheReasonOfAPageWithoutAnArchive) {
  auto const pages = recorded_of(recorded("page0") + "," + failed("page2") + "," + failed("page1"));
  EXPECT_EQ(pages.unreached, 0U);
  ASSERT_EQ(pages.failures.size(), 2U);
  EXPECT_EQ(pages.failures[0].page, 1U);
  EXPECT_EQ(pages.failures[0].why, "no such host");
  EXPECT_EQ(not_recorded_text(plan_with("", 3), pages.failures),
            "the pages 'page1', 'page2' cannot be recorded");
}

TEST(RecordedPages, CountThoseThatRecordDidNotReach) {
  EXPECT_EQ(recorded_of(recorded("page0")).unreached, 2U);
  EXPECT_EQ(recorded_of(recorded("page0") + ",7," + failed("other")).unreached, 2U);
  EXPECT_EQ(recorded_of("").unreached, 3U);
}

}  // namespace
}  // namespace reprise
