#include "analysis/advice/page_losses.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LoadResult::Load load(std::vector<PageRequest> requests, std::vector<std::string> errors = {}) {
  LoadResult::Load load;
  load.page.outcome = LoadOutcome::kLoaded;
  load.page.load_event_ms = 1'000;
  load.page.requests = std::move(requests);
  load.page.console_errors = std::move(errors);
  return load;
}

PageRequest request(std::string url, double start_ms = 100, std::string failure = {}) {
  PageRequest request;
  request.url = std::move(url);
  request.method = "GET";
  request.start_ms = start_ms;
  request.failure = std::move(failure);
  return request;
}

LoadResult result(std::vector<LoadResult::Load> loads) {
  LoadResult result;
  result.loads = std::move(loads);
  return result;
}

TEST(PageLosses, AreRequestsThatNoChangedLoadMakes) {
  auto const page = request("https://a.test/");
  auto const recorded =
      result({load({page, request("https://a.test/x?1"), request("https://a.test/once")}),
              load({page, request("https://a.test/x?2"), request("https://a.test/late", 1'001)})});
  auto const changed = result({load({page}), load({page})});
  EXPECT_THAT(page_losses(recorded, changed, {}).requests, ElementsAre("GET https://a.test/x"));
  EXPECT_THAT(page_losses(recorded, changed, {"https://a.test/x?1"}).requests, IsEmpty());
  EXPECT_TRUE(page_losses(recorded, recorded, {}).empty());
  auto const later = result({load({page}), load({page, request("https://a.test/x", 5'000)})});
  EXPECT_THAT(page_losses(recorded, later, {}).requests, IsEmpty());
  auto const fails = result({load({page, request("https://a.test/x", 100, "net::ERR_FAILED")})});
  EXPECT_THAT(page_losses(recorded, fails, {}).requests, ElementsAre("GET https://a.test/x"));
}

TEST(PageLosses, AreErrorsThatEveryChangedLoadHas) {
  auto const recorded = result({load({}, {"old 17"}), load({})});
  auto const changed = result({load({}, {"old 4", "$ is not defined (a.js:3)", "at times"}),
                               load({}, {"$ is not defined (a.js:40)", "old 5"})});
  auto const losses = page_losses(recorded, changed, {});
  EXPECT_THAT(losses.errors, ElementsAre("$ is not defined (a.js:3)")) << "but for its numbers";
  EXPECT_EQ(losses.text(), "1 new error: $ is not defined (a.js:3)");
}

TEST(PageLosses, AreNoErrorsThatAnotherProtocolWordsOtherwise) {
  auto const failed = [](const std::string& status, const std::string& path) {
    return result({load({}, {"Failed to load resource: the server responded with a status of " +
                             status + " (https://a.test/" + path + ")"})});
  };
  auto const recorded = failed("404 (Not (yet) found)", "x(1)");
  EXPECT_TRUE(page_losses(recorded, failed("404 ()", "x(1)"), {}).empty());
  EXPECT_FALSE(page_losses(recorded, failed("404 ()", "y"), {}).empty());
}

TEST(PageLosses, AreOfAllLoadsThatDidNotFail) {
  auto const page = request("https://a.test/");
  auto failed = load({});
  failed.page.outcome = LoadOutcome::kTimedOut;
  EXPECT_EQ(page_losses(result({load({page}), failed}), result({load({})}), {}).text(),
            "1 request is lost: GET https://a.test/");
  EXPECT_TRUE(page_losses(result({load({page})}), result({failed}), {}).empty());
  auto skipped = load({page});
  skipped.skipped = "busy";
  EXPECT_TRUE(page_losses(result({load({page})}), result({load({}), skipped}), {}).empty());
}

TEST(PageLosses, AreNotBeyondTheLimitsOfAResult) {
  auto const page = request("https://a.test/");
  auto full = load({page}, std::vector<std::string>(1'000, "old"));
  auto more = load({}, {"new"});
  more.page.requests_not_kept = 1;
  EXPECT_TRUE(page_losses(result({full}), result({more}), {}).empty());
}

TEST(PageLosses, NameTheFirstOfSeveral) {
  PageLosses const losses{.requests = {"GET https://a.test/", "GET https://a.test/x"},
                          .errors = {"x\n    at a.js:3", "y"}};
  EXPECT_EQ(losses.text(),
            "2 requests are lost, such as GET https://a.test/; 2 new errors, such as x");
}

}  // namespace
}  // namespace reprise
