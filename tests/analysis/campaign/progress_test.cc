#include "analysis/campaign/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "tests/analysis/campaign/loads.h"
#include "tests/analysis/campaign/plans.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Four shards of ten loads.
Plan four_shards() {
  return plan_with(R"("loads":10,"load_seconds":20)", 4);
}

TEST(CampaignProgress, CountsResultsAndNothingElse) {
  auto const plan = four_shards();
  ASSERT_EQ(plan.shards.size(), 4U);
  CampaignFacts facts;
  facts.results = {header_of(2, "n1"), header_of(4, "n2")};
  facts.failures = {{.shard = 1, .node = "n1", .reason = "no room"},
                    {.shard = 2, .node = "n1", .reason = "was repeated since"}};
  auto const progress = progress_of(plan, facts);
  EXPECT_THAT(progress.missing, ElementsAre(1, 3));
  EXPECT_EQ(progress.loads, 20U);
  EXPECT_EQ(progress.loads_planned, 40U);
  EXPECT_EQ(progress.reasons, (std::map<std::string, std::size_t>{{"no room", 1}}));
  // 200 s of machines for two of four shards, on two nodes.
  EXPECT_NEAR(progress.seconds_left, 100, 1e-9);
  EXPECT_THAT(progress_text(progress), HasSubstr("2 of 4 shards done, 20 of 40 loads, about 2 min "
                                                 "left on 2 nodes"));
}

TEST(CampaignProgress, CountsTheLoadsOfArchivesWithSeveralPages) {
  auto const plan = four_shards();
  CampaignFacts facts;
  facts.results = {header_of(1, "n1")};
  facts.results[0].loads = 30;
  EXPECT_THAT(progress_text(progress_of(plan, facts)), HasSubstr("30 of 60 loads"));
}

TEST(CampaignProgress, NamesPagesOfWhichEveryLoadFailedInAllShards) {
  auto const plan = plan_with(R"("loads":20,"load_seconds":20)", 1);
  ASSERT_EQ(plan.shards.size(), 2U);
  auto const failure = [](const std::string& url, const std::string& why) {
    return PageFailure{.url = url, .loads = 10, .why = why};
  };
  CampaignFacts facts;
  facts.results = {header_of(1, "n1"), header_of(2, "n2")};
  facts.results[0].failures = {failure("https://a.test/", "net::ERR_FAILED"),
                               failure("https://a.test/once", "timed out")};
  facts.results[1].failures = {failure("https://a.test/", "net::ERR_ABORTED")};
  auto const progress = progress_of(plan, facts);
  ASSERT_EQ(progress.failed_pages.size(), 1U);
  EXPECT_EQ(progress.failed_pages[0].loads, 20U);
  EXPECT_THAT(progress_text(progress),
              HasSubstr("page page0 (https://a.test/) failed in every load: net::ERR_FAILED\n"));
  EXPECT_EQ(boost::json::serialize(to_json(progress).at("failed_pages")),
            R"([{"side":"","url":"https://a.test/","loads":20,"why":"net::ERR_FAILED",)"
            R"("page":"page0"}])");

  // In one shard the archive could not be opened.
  facts.results[1].failures = {failure("", "no archive")};
  EXPECT_EQ(progress_of(plan, facts).failed_pages.size(), 2U);
  facts.results[1].failures.clear();
  EXPECT_TRUE(progress_of(plan, facts).failed_pages.empty());
}

TEST(CampaignProgress, SaysWhatHappenedInTheLastAttemptAtAMissingShard) {
  CampaignFacts facts;
  facts.failures = {{.shard = 1, .node = "n1", .reason = "it failed", .detail = "no such page"}};
  EXPECT_THAT(progress_text(progress_of(four_shards(), facts)),
              HasSubstr("1 missing shard: it failed (no such page)\n"));
}

TEST(CampaignProgress, DoesNotCountResultsOfARefusedNode) {
  auto const plan = four_shards();
  CampaignFacts facts;
  facts.results = {header_of(1, "n1"), header_of(2, "n2")};
  facts.nodes = {{.plan = "p", .node = "n2", .problems = {"no browser"}}};
  auto const progress = progress_of(plan, facts);
  EXPECT_THAT(progress.missing, ElementsAre(2, 3, 4));
  EXPECT_THAT(progress_text(progress), HasSubstr("node n2 is refused: no browser"));
}

TEST(CampaignProgress, ReportsAClockAnHourOffAndForeignResults) {
  auto const plan = four_shards();
  CampaignFacts facts;
  facts.foreign = 1;
  facts.nodes = {{.plan = "p", .node = "n1", .clock_ahead_s = -3600},
                 {.plan = "p", .node = "n2", .clock_ahead_s = 1}};
  auto const text = progress_text(progress_of(plan, facts));
  EXPECT_THAT(text, HasSubstr("the clock of node n1 is 60 min slow"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("node n2")));
  EXPECT_THAT(text, HasSubstr("1 result of another plan"));
}

TEST(CampaignProgress, DoesNotDependOnClocks) {
  auto const plan = four_shards();
  CampaignFacts early, late;
  early.results = late.results = {header_of(1, "n1"), header_of(2, "n2")};
  late.results[1].finished_unix_ms = early.results[1].finished_unix_ms - 3.6e6;
  EXPECT_EQ(progress_text(progress_of(plan, early)), progress_text(progress_of(plan, late)));
}

TEST(CampaignProgress, RoundsTimesUp) {
  EXPECT_EQ(time_text(0), "0 s");
  EXPECT_EQ(time_text(99.2), "100 s");
  EXPECT_EQ(time_text(601), "11 min");
  EXPECT_EQ(time_text(7200), "2.0 h");
  EXPECT_EQ(time_text(30 * 86400), "30.0 days");
}

}  // namespace
}  // namespace reprise
