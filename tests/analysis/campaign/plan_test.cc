#include "analysis/campaign/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "tests/analysis/campaign/plans.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// How many times each run of each cell of each page is planned.
std::map<std::tuple<std::size_t, std::string, std::string, unsigned>, int> runs_of(
    const Plan& plan) {
  std::map<std::tuple<std::size_t, std::string, std::string, unsigned>, int> out;
  for (const Shard& shard : plan.shards) {
    for (const ShardPart& part : shard.parts) {
      for (const std::string& protocol : part.protocols) {
        for (const std::string& link : part.links) {
          for (unsigned run = 0; run < part.runs; ++run) {
            ++out[{part.page, protocol, link, part.first_run + run}];
          }
        }
      }
    }
  }
  return out;
}

TEST(Plan, HasEveryRunOfEveryCellOnce) {
  for (auto const* const minutes : {"1", "2.5", "5", "10"}) {
    for (auto const* const loads : {"1", "3", "20", "137"}) {
      auto const plan = plan_with(R"("links":["none","wpt:4g","wpt:3g"],"protocols":["h1","h2"],)"
                                  R"("loads":)" +
                                      std::string(loads) + R"(,"shard_minutes":)" + minutes,
                                  3);
      auto const runs = runs_of(plan);
      EXPECT_EQ(runs.size(), 3U * 2 * 3 * static_cast<unsigned>(std::stoi(loads)));
      for (auto const& [run, times] : runs) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Plan, OfFiveThousandPagesHasShardsOfMinutes) {
  auto const plan = plan_with(R"("links":["none","wpt:4g","wpt:3g"],"loads":20)", 5000);
  double seconds = 0;
  std::size_t loads = 0;
  for (const Shard& shard : plan.shards) {
    auto const of_this = expected_seconds(plan, shard);
    EXPECT_GE(of_this, 60);
    EXPECT_LE(of_this, 600);
    seconds += of_this;
    loads += planned_loads(plan, shard);
  }
  EXPECT_EQ(loads, 300'000U);
  EXPECT_NEAR(seconds / 86400, 30, 3);  // a month on one machine
}

TEST(Plan, KeepsTheSidesOfAPageTogether) {
  auto const plan = plan_with(
      R"("sides":[{"name":"A"},{"name":"B"}],"browsers":["chromium","firefox-esr"],"loads":30,)"
      R"("links":["none","wpt:4g","wpt:3g","wpt:2g"],"shard_minutes":1)",
      2);
  // A round of all cells does not fit into a minute: cells are divided, sides are not.
  std::size_t loads = 0;
  for (const Shard& shard : plan.shards) loads += planned_loads(plan, shard);
  EXPECT_EQ(loads, 2U * 2 * 4 * 30 * 2);
  for (const Shard& shard : plan.shards) EXPECT_EQ(planned_loads(plan, shard) % 2, 0U);
}

TEST(Plan, PutsShortPagesIntoOneShard) {
  auto const plan = plan_with(R"("loads":1)", 100);
  EXPECT_LT(plan.shards.size(), 8U);
  for (const Shard& shard : plan.shards) EXPECT_LE(expected_seconds(plan, shard), 300);
}

TEST(Plan, SpendsABudgetEvenly) {
  auto const plan = plan_with(R"("budget_hours":2,"links":["none","wpt:4g"])", 5);
  double seconds = 0;
  for (const Shard& shard : plan.shards) seconds += expected_seconds(plan, shard);
  EXPECT_LE(seconds, 2 * 3600);
  EXPECT_GE(seconds, 1.7 * 3600);
  auto const refused = plan_campaign(campaign_with(R"("budget_hours":1)"), pages(5000));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("budget_hours must be at least 34"));
}

TEST(Plan, ABudgetPaysForTheWarmUpsOfAllShards) {
  auto const plan = plan_with(R"("budget_hours":100,"links":["none","wpt:4g","wpt:3g"],)"
                              R"("protocols":["h1","h2","recorded"],)"
                              R"("sides":[{"name":"A"},{"name":"B"}])",
                              100);
  double seconds = 0;
  for (const Shard& shard : plan.shards) seconds += expected_seconds(plan, shard);
  EXPECT_LE(seconds, 100 * 3600);
  EXPECT_GE(seconds, 90 * 3600);
}

TEST(Plan, IsReadBackAndNamedByItsDigest) {
  auto const plan = plan_with(R"("links":["none","wpt:4g"],"loads":50)", 3);
  auto const text = plan_text(plan);
  auto const again = read_plan(text).value();
  EXPECT_EQ(plan_text(again), text);
  EXPECT_EQ(plan_digest(text).size(), 16U);
  EXPECT_NE(plan_digest(text), plan_digest(plan_text(plan_with(R"("loads":51)", 3))));
}

TEST(Plan, OfAdviceKeepsItsConfiguration) {
  auto const plan =
      plan_with(R"("task":"advise","links":["wpt:4g"],"protocols":["h2"],"browsers":["/b"],)"
                R"("caches":["warm"])",
                2);
  auto const again = read_plan(plan_text(plan)).value();
  for (const Shard& shard : again.shards) {
    for (const ShardPart& part : shard.parts) {
      EXPECT_THAT(part.links, ElementsAre("wpt:4g"));
      EXPECT_THAT(part.protocols, ElementsAre("h2"));
      EXPECT_THAT(part.browsers, ElementsAre("/b"));
      EXPECT_THAT(part.caches, ElementsAre("warm"));
    }
  }
}

TEST(Plan, SeedsDifferByPageAndRunAndDependOnNothingElse) {
  auto const plan = plan_with(R"("links":["none","wpt:4g","wpt:3g"],"loads":60)", 3);
  std::set<std::uint64_t> seeds;
  std::size_t parts = 0;
  for (const Shard& shard : plan.shards) {
    for (const ShardPart& part : shard.parts) {
      seeds.insert(seed_of(plan, part));
      ++parts;
      EXPECT_LT(seed_of(plan, part), std::uint64_t{1} << 53);
    }
  }
  EXPECT_EQ(seeds.size(), parts);
  EXPECT_GT(parts, 3U);
}

TEST(Plan, RefusesNamesThatAreNotUnique) {
  auto twice = pages(2);
  twice[1].name = twice[0].name;
  EXPECT_THAT(plan_campaign(campaign_with(""), twice).error(), HasSubstr("rename one"));
  EXPECT_THAT(plan_campaign(campaign_with(""), {}).error(), HasSubstr("no page"));
}

TEST(Plan, RefusesNamesThatLeaveItsFolder) {
  auto odd = pages(1);
  odd[0].name = ".hidden";
  EXPECT_THAT(plan_campaign(campaign_with(""), odd).error(), HasSubstr("begin with a dot"));
  auto text = plan_text(plan_with("", 1));
  text.replace(text.find("page0"), 5, "../up");
  EXPECT_THAT(read_plan(text).error(), HasSubstr("pages[0].name must be a name"));
}

TEST(Plan, WithAPageThatIsNotThereIsRefused) {
  auto text = plan_text(plan_with("", 1));
  text.replace(text.find(R"("page":0)"), 8, R"("page":1)");
  EXPECT_THAT(read_plan(text).error(), HasSubstr("is not a page of the plan"));
}

}  // namespace
}  // namespace reprise
