#include "analysis/campaign/collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <set>
#include <utility>

#include "tests/analysis/campaign/loads.h"
#include "tests/analysis/campaign/plans.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Plan two_sides() {
  return plan_with(R"("loads":4,"sides":[{"name":"A"},{"name":"B"}])", 2);
}

ShardRecord record_of(const std::string& side, unsigned first_run, const std::string& sha = "aa") {
  return {.page = 0, .first_run = first_run, .side = side, .result = result_with(2, sha)};
}

TEST(PageCollection, KeepsWhichNodeMadeALoadAndNumbersRunsOverShards) {
  auto const plan = two_sides();
  PageCollection page(plan, 0);
  EXPECT_FALSE(page.add(header_of(1, "n1"), record_of("A", 1)));
  EXPECT_FALSE(page.add(header_of(2, "n2"), record_of("A", 3)));
  EXPECT_FALSE(page.add(header_of(2, "n2"), record_of("B", 3)));
  const LoadResult& a = page.results()[0];
  ASSERT_EQ(a.loads.size(), 6U);
  std::multiset<unsigned> runs;
  for (const LoadResult::Load& load : a.loads) {
    if (!load.warm_up) runs.insert(load.run);
    EXPECT_EQ(load.node, load.order <= 3 ? "n1" : "n2") << load.order;
  }
  EXPECT_EQ(runs, (std::multiset<unsigned>{1, 2, 3, 4}));
  EXPECT_EQ(*a.loads[4].replay, 4U);
  EXPECT_EQ(a.replays.size(), 6U);
  EXPECT_EQ(a.browsers.size(), 1U);
  auto const summary = boost::json::serialize(page.summary());
  EXPECT_THAT(summary, HasSubstr(R"("loads":6)"));
  EXPECT_THAT(summary, HasSubstr(R"("nodes":{"n1":2,"n2":4})"));
}

TEST(PageCollection, HasTheSameCellsInWhateverOrderShardsCome) {
  auto const plan = two_sides();
  PageCollection forwards(plan, 0), backwards(plan, 0);
  EXPECT_FALSE(forwards.add(header_of(1, "n1"), record_of("A", 1)));
  EXPECT_FALSE(forwards.add(header_of(2, "n2"), record_of("A", 3)));
  EXPECT_FALSE(backwards.add(header_of(2, "n9"), record_of("A", 3)));
  EXPECT_FALSE(backwards.add(header_of(1, "n8"), record_of("A", 1)));
  EXPECT_EQ(forwards.cells(), backwards.cells());
  EXPECT_THAT(forwards.cells(), HasSubstr("page0\tA\thttps://a.test/\tchromium\trecorded\tnone\t"
                                          "cold\t4\t2\t"));
}

TEST(PageCollection, RefusesAnArchiveThatChanged) {
  auto const plan = two_sides();
  PageCollection page(plan, 0);
  EXPECT_FALSE(page.add(header_of(1, "n1"), record_of("A", 1)));
  auto const fault = page.add(header_of(2, "n1"), record_of("A", 3, "bb"));
  ASSERT_TRUE(fault);
  EXPECT_THAT(*fault, HasSubstr("changed while it was measured"));
  EXPECT_TRUE(page.add(header_of(2, "n1"), record_of("C", 3)));
}

TEST(PageCollection, CountsNoLoadThatAdviseThrewAway) {
  auto const plan = plan_with(R"("task":"advise")", 1);
  auto record = record_of("A", 1);
  record.advice["changes"] = 1;
  record.result = result_with(4);
  for (LoadResult::Load& load : record.result.loads) {
    if (load.run == 2) load.skipped = "disturbed: another process used the processor";
    if (load.run == 3) load.page.outcome = LoadOutcome::kTimedOut;
  }
  PageCollection page(plan, 0);
  EXPECT_FALSE(page.add(header_of(1, "n1"), std::move(record)));
  auto const summary = page.summary();
  EXPECT_THAT(boost::json::serialize(summary),
              HasSubstr(R"("loads":3,"failed":1,"nodes":{"n1":3})"));
  EXPECT_EQ(summary.at("load_events_ms"), boost::json::value({1001.0, 1004.0}));
  EXPECT_THAT(page.cells(), HasSubstr("\tcold\t3\t2\t"));
}

TEST(PageCollection, SaysWhyEveryLoadOfAPageFailed) {
  auto const plan = two_sides();
  PageCollection page(plan, 0);
  EXPECT_FALSE(page.add(header_of(1, "n1"), record_of("A", 1)));
  auto record = record_of("B", 1);
  for (LoadResult::Load& load : record.result.loads) {
    load.page.outcome = LoadOutcome::kNavigationFailed;
    load.page.failure = "net::ERR_FAILED";
  }
  EXPECT_FALSE(page.add(header_of(1, "n1"), std::move(record)));
  auto const line = page_line(0, page.summary(), page.cells());
  EXPECT_EQ(line.urls, 1U);
  EXPECT_THAT(line.failures, ElementsAre("page page0 (https://a.test/, side B) failed in every "
                                         "load: net::ERR_FAILED"));
  auto const text = page_line_text(line);
  auto const again = read_page_line(text.substr(0, text.size() - 1)).value();
  EXPECT_EQ(again.urls, 1U);
  EXPECT_EQ(again.failures, line.failures);
}

TEST(PageCollection, SaysWhyAPageHasNoLoad) {
  auto const plan = two_sides();
  PageFailure const failure{.name = "page0", .loads = 2, .why = "it is damaged"};
  PageCollection page(plan, 0);
  page.add_failure(failure);
  page.add_failure(failure);
  EXPECT_THAT(boost::json::serialize(page.summary()),
              HasSubstr(R"("failures":[{"side":"","url":"","loads":4,"why":"it is damaged"}])"));
  EXPECT_EQ(page_line(0, page.summary(), "").urls, 1U);
  EXPECT_FALSE(page.add(header_of(1, "n1"), record_of("A", 1)));
  EXPECT_THAT(boost::json::serialize(page.summary()), Not(HasSubstr("failures")));
}

TEST(PageCollection, HasTheUrlOfAPageThatAdviseCouldNotLoad) {
  auto const plan = plan_with(R"("task":"advise")", 1);
  PageCollection page(plan, 0);
  page.add_failure({.name = "page0", .loads = 1, .why = "it is damaged"});
  EXPECT_FALSE(page.summary().contains("url"));
  page.add_start_url("https://a.test/");
  EXPECT_EQ(page.summary().at("url"), "https://a.test/");
}

TEST(PageLine, ComesBackWithTheSameBytes) {
  PageLine const line{.page = 12, .summary = R"({"a":0.1000000000000000055})", .cells = "p\tA\n"};
  auto const text = page_line_text(line);
  EXPECT_THAT(text, HasSubstr("00000012\t{"));
  auto const again = read_page_line(text.substr(0, text.size() - 1)).value();
  EXPECT_EQ(again.page, 12U);
  EXPECT_EQ(again.summary, line.summary);
  EXPECT_EQ(again.cells, line.cells);
  for (auto const* const bad : {"", "1", "1\t", "1\t{}", "x\t{}", R"(1	{"summary":"[]"})"}) {
    EXPECT_FALSE(read_page_line(bad)) << bad;
  }
}

}  // namespace
}  // namespace reprise
