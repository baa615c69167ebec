#include "analysis/budget/budget.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PageRequest request(std::string url, std::string type, std::int64_t bytes) {
  PageRequest made;
  made.url = std::move(url);
  made.resource_type = std::move(type);
  made.encoded_bytes = bytes;
  return made;
}

LoadResult::Load load(double fcp_ms, std::vector<PageRequest> requests) {
  LoadResult::Load made;
  made.page.url = "https://shop.test/shoes?page=2";
  made.page.first_contentful_paint_ms = fcp_ms;
  made.page.requests = std::move(requests);
  return made;
}

std::vector<std::string> told(std::string_view budgets, const LoadResult& result) {
  auto const read = read_budgets(budgets);
  EXPECT_TRUE(read) << (read ? "" : read.error());
  std::vector<std::string> lines;
  if (!read) return lines;
  for (const BudgetFinding& finding : check_budgets(*read, result)) {
    lines.push_back(budget_text(finding));
  }
  return lines;
}

LoadResult shop() {
  LoadResult result;
  for (double const fcp_ms : {900.0, 1000.0, 2000.0}) {
    result.loads.push_back(load(fcp_ms, {request("https://shop.test/shoes", "Document", 1000),
                                         request("https://shop.test/favicon.ico", "Other", 9999),
                                         request("https://img.shop.test/a.js", "Script", 2048),
                                         request("https://ads.example/b.js", "Script", 1024),
                                         request("https://ads.example/c", "Fetch", 10)}));
  }
  return result;
}

TEST(Budget, LimitsSizesInKibibytesAndCountsByType) {
  EXPECT_THAT(told(R"([{"resourceSizes":[{"resourceType":"script","budget":3},
                        {"resourceType":"total","budget":3.5}],
                        "resourceCounts":[{"resourceType":"third-party","budget":1},
                        {"resourceType":"other","budget":1},
                        {"resourceType":"font","budget":0}]}])",
                   shop()),
              ElementsAre("script 3.1 kB of 3.1 kB", "total 4.1 kB of 3.6 kB: over",
                          "third-party requests 2 of 1: over", "other requests 1 of 1",
                          "font requests 0 of 0"));
}

TEST(Budget, LimitsTheMedianOfTimings) {
  auto result = shop();
  result.loads[2].warm_up = true;
  EXPECT_THAT(
      told(R"([{"timings":[{"metric":"first-contentful-paint","budget":949},
                        {"metric":"first-contentful-paint","budget":940,"tolerance":20},
                        {"metric":"interactive","budget":5}]}])",
           result),
      ElementsAre("first-contentful-paint 950.0 ms of 949.0 ms: over",
                  "first-contentful-paint 950.0 ms of 960.0 ms", "interactive: not measured"));
  result.loads.resize(1);
  result.loads[0].skipped = "The machine was disturbed.";
  EXPECT_THAT(told(R"([{"timings":[{"metric":"load","budget":1}]}])", result), ElementsAre());
}

TEST(Budget, IsTheLastOneWhosePathFits) {
  auto const counts = [](std::string_view path, std::string_view limit) {
    return R"({"path":")" + std::string(path) +
           R"(","resourceCounts":[{"resourceType":"total","budget":)" + std::string(limit) + "}]}";
  };
  EXPECT_THAT(told("[" + counts("/*", "1") + "," + counts("/shoes", "2") + "," +
                       counts("/hats", "3") + "," + counts("/shoes$", "4") + "]",
                   shop()),
              ElementsAre("total requests 4 of 2: over"));
  EXPECT_THAT(told("[" + counts("/hats", "3") + "]", shop()), ElementsAre());
}

TEST(Budget, IsForThePagesThatItsPathFits) {
  auto const budgets = read_budgets(R"([{"path":"/shoes"},{"path":"/hats$"}])");
  ASSERT_TRUE(budgets);
  EXPECT_TRUE(has_budget(*budgets, "https://shop.test/shoes?page=2"));
  EXPECT_FALSE(has_budget(*budgets, "https://shop.test/hats?page=2"));
}

TEST(Budget, CountsOtherHostsOfThePagesSiteAsFirstParty) {
  LoadResult result;
  result.loads.push_back(load(1, {request("https://img.shop.test/a.png", "Image", 1),
                                  request("data:image/png;base64,AA==", "Image", 1),
                                  request("https://shop.example/b.js", "Script", 1)}));
  result.loads[0].page.url = "https://www.shop.test/";
  EXPECT_THAT(told(R"([{"resourceCounts":[{"resourceType":"third-party","budget":1}]}])", result),
              ElementsAre("third-party requests 1 of 1"));
}

TEST(Budget, TakesTheFirstPartyFromItsOptions) {
  EXPECT_THAT(told(R"([{"options":{"firstPartyHostnames":["shop.test","ads.*"]},
                        "resourceCounts":[{"resourceType":"third-party","budget":0}]}])",
                   shop()),
              ElementsAre("third-party requests 1 of 0: over"));
}

TEST(Budget, IsRefusedWithTheReason) {
  for (auto const& [text, why] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"{", "not JSON"},
           {"{}", "not an array of budgets"},
           {"[1]", "not an array of budgets"},
           {R"([{"resourceSizes":[{"resourceType":"css","budget":1}]}])", "'css'"},
           {R"([{"resourceCounts":[{"resourceType":"script"}]}])", "needs resourceType"},
           {R"([{"timings":[{"metric":"load","budget":-1}]}])", "budget of 0 or more"},
           {R"([{"timings":{"metric":"load","budget":1}}])", "timings is not an array"},
           {R"([{"timings":[{"metric":"largest-contentfull-paint","budget":1}]}])",
            "unknown metric 'largest-contentfull-paint'"},
           {R"([{"path":"/","resourceSize":[]}])", "unknown member 'resourceSize'"}}) {
    auto const read = read_budgets(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error(), HasSubstr(why));
  }
}

}  // namespace
}  // namespace reprise
