#include "analysis/campaign/campaign_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/analysis/campaign/plans.h"

namespace reprise {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Why a campaign with these members is refused.
std::string refusal(const std::string& members) {
  auto const parsed = parse_campaign("{" + members + "}");
  return parsed ? "accepted" : parsed.error();
}

constexpr const char* kLeast = R"("schema":"reprise-campaign/1","name":"a","archives":["x"])";

TEST(CampaignFile, HasDefaultsForAllButNameAndArchives) {
  auto const campaign = parse_campaign("{" + std::string(kLeast) + "}").value();
  EXPECT_EQ(campaign.task, CampaignFile::Task::kLoad);
  EXPECT_THAT(campaign.browsers, ElementsAre("chromium"));
  EXPECT_THAT(campaign.links, ElementsAre("none"));
  EXPECT_EQ(campaign.loads, 20U);
  ASSERT_EQ(campaign.sides.size(), 1U);
  EXPECT_EQ(campaign.sides[0].name, "A");
  EXPECT_EQ(campaign.cells(), 1U);
}

TEST(CampaignFile, IsReadBackAsWritten) {
  auto const campaign = campaign_with(
      R"("links":["wpt:4g","wpt:3g"],"loads":7,"seed":9007199254740993,"flags":["--timeout","9"],
         "sides":[{"name":"A"},{"name":"B","flags":["--what-if","type=script: defer"]}])");
  auto const text = json::serialize(to_json(campaign));
  auto const again = parse_campaign(text).value();
  EXPECT_EQ(json::serialize(to_json(again)), text);
  EXPECT_EQ(again.seed, 9007199254740993U);
  EXPECT_THAT(again.sides[1].flags, ElementsAre("--what-if", "type=script: defer"));
}

TEST(CampaignFile, RefusesAMisspeltMember) {
  EXPECT_THAT(refusal(std::string(kLeast) + R"(,"lods":3)"), HasSubstr("lods is not a member"));
  EXPECT_THAT(refusal(std::string(kLeast) + R"(,"sides":[{"name":"A","flag":[]}])"),
              HasSubstr("sides[0].flag is not a member"));
}

TEST(CampaignFile, RefusesWhatItCannotPlan) {
  std::string const least = kLeast;
  EXPECT_THAT(refusal(R"("name":"a")"), HasSubstr("schema"));
  EXPECT_THAT(refusal(R"("schema":"reprise-campaign/1","archives":["x"],"name":"a b")"),
              HasSubstr("name"));
  EXPECT_THAT(refusal(R"("schema":"reprise-campaign/1","name":"a")"), HasSubstr("archives"));
  EXPECT_THAT(refusal(least + R"(,"urls":["https://a.test/"])"), HasSubstr("archives cannot"));
  EXPECT_THAT(refusal(least + R"(,"task":"gate")"), HasSubstr("load, record or advise"));
  EXPECT_THAT(refusal(least + R"(,"protocols":["h4"])"), HasSubstr("cannot be 'h4'"));
  EXPECT_THAT(refusal(least + R"(,"links":["none","none"])"), HasSubstr("links must differ"));
  EXPECT_THAT(refusal(least + R"(,"shard_minutes":11)"), HasSubstr("from 1 to 10"));
  EXPECT_THAT(refusal(least + R"(,"loads":2.5)"), HasSubstr("loads must be a whole number"));
  EXPECT_THAT(refusal(least + R"(,"loads":10001)"), HasSubstr("loads must be from 1 to 10000"));
  EXPECT_EQ(refusal(least + R"(,"loads":3)"), "accepted");
  EXPECT_THAT(refusal(least + R"(,"loads":3,"budget_hours":2)"), HasSubstr("one of them"));
  EXPECT_THAT(refusal(least + R"(,"sides":[{"name":"A"},{"name":"A"}])"), HasSubstr("unique"));
  EXPECT_THAT(refusal(least + R"(,"sides":[{"name":"../A"}])"), HasSubstr("letters"));
  EXPECT_THAT(refusal(least + R"(,"task":"advise","links":["none","wpt:4g"])"),
              HasSubstr("links must be one"));
  EXPECT_THAT(refusal(least + R"(,"task":"advise","sides":[{"name":"A"},{"name":"B"}])"),
              HasSubstr("sides must be one"));
  EXPECT_THAT(refusal(least + R"(,"flags":["--dom","--link=wpt:4g"])"),
              HasSubstr("flags cannot have --link: use the member links"));
  EXPECT_THAT(refusal(least + R"(,"sides":[{"name":"A","flags":["--browser","firefox"]}])"),
              HasSubstr("use the member browsers"));
  EXPECT_THAT(refusal(least + R"(,"flags":["--","--disable-gpu"])"),
              HasSubstr("use --chromium-flag"));
  EXPECT_THAT(refusal(least + R"(,"sides":[{"name":"A","flags":["--"]}])"),
              HasSubstr("cannot contain --,"));
  EXPECT_THAT(parse_campaign("[]").error(), HasSubstr("not a JSON object"));
}

TEST(CampaignFile, RecordsIfItHasUrls) {
  auto const campaign =
      parse_campaign(R"({"schema":"reprise-campaign/1","name":"a","urls":["https://a.test/"]})")
          .value();
  EXPECT_EQ(campaign.task, CampaignFile::Task::kRecord);
}

TEST(CampaignFile, RefusesWhatRecordDoesNotRead) {
  std::string const least =
      R"("schema":"reprise-campaign/1","name":"a","urls":["https://a.test/"],)";
  for (auto const* const members :
       {R"("protocols":["h2"])", R"("links":["wpt:4g"])", R"("caches":["warm"])",
        R"("sides":[{"name":"A"},{"name":"B"}])", R"("sides":[{"name":"A","flags":["--dom"]}])"}) {
    EXPECT_THAT(refusal(least + members), HasSubstr("cannot be used with the task record"));
  }
  EXPECT_THAT(refusal(least + R"("flags":["--link","wpt:4g","--browser","chromium"])"),
              HasSubstr("flags cannot have --browser"));
  EXPECT_THAT(refusal(least + R"("browsers":["chromium","google-chrome"])"),
              HasSubstr("browsers must be one"));
  auto const campaign = parse_campaign("{" + least + R"("browsers":["google-chrome"]})").value();
  auto const again = parse_campaign(json::serialize(to_json(campaign)));
  ASSERT_TRUE(again) << again.error();
  EXPECT_THAT(again->browsers, ElementsAre("google-chrome"));
}

TEST(CampaignFile, RefusesABudgetForTasksThatDoNotReadIt) {
  EXPECT_THAT(refusal(std::string(kLeast) + R"(,"task":"advise","budget_hours":3)"),
              HasSubstr("budget_hours cannot be used with the task advise"));
  EXPECT_THAT(refusal(R"("schema":"reprise-campaign/1","name":"a","urls":["u"],"budget_hours":3)"),
              HasSubstr("budget_hours cannot be used with the task record"));
  EXPECT_EQ(refusal(std::string(kLeast) + R"(,"budget_hours":3)"), "accepted");
  EXPECT_EQ(refusal(std::string(kLeast) + R"(,"task":"advise","budget_hours":0)"), "accepted");
}

TEST(CampaignFile, HasTheMembersOfItsSchema) {
  std::ifstream file(CAMPAIGN_SCHEMA);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  auto const schema = json::parse(text).as_object();
  std::set<std::string> described;
  for (auto const& member : schema.at("properties").as_object()) {
    described.insert(std::string(member.key()));
  }
  std::set<std::string> members;
  // Which of "loads" and "budget_hours" is written depends on the latter.
  for (double const budget_hours : {0.0, 1.0}) {
    for (auto const& member : to_json(CampaignFile{.budget_hours = budget_hours})) {
      members.insert(std::string(member.key()));
    }
  }
  EXPECT_EQ(described, members);
  EXPECT_FALSE(schema.at("additionalProperties").as_bool());
}

}  // namespace
}  // namespace reprise
