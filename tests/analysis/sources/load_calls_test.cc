#include "analysis/sources/load_calls.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::Pair;

LoadResult::Load a_load() {
  LoadResult::Load load;
  load.configuration.link = "wpt:4g";
  load.page.url = "http://shop.test/";
  load.page.final_url = "https://shop.test/";
  load.page.started_unix_ms = 1'795'000'000'000;
  load.page.load_event_ms = 320.5;
  PageRequest document{.url = "https://shop.test/", .method = "GET"};
  document.resource_type = "Document";
  document.status = 200;
  document.encoded_bytes = 1234;
  document.end_ms = 260;
  document.timing = RequestTiming{.send_start_ms = 90, .send_end_ms = 91, .first_byte_ms = 200};
  PageRequest stream{.url = "https://shop.test/events"};
  stream.start_ms = 250;
  PageRequest lost{.url = "https://shop.test/lost"};
  lost.start_ms = -1;
  load.page.requests = {document, stream, lost};
  return load;
}

TEST(LoadCalls, AreTheRequestsUpToTheLoadEvent) {
  LoadResult result;
  result.archive = "/recordings/shop.reprise";
  result.loads = {a_load()};
  std::vector<CallLoss> losses;
  auto const views = calls_of(result, losses);
  ASSERT_EQ(views.size(), 1u);
  CallTree const& tree = views[0].tree;
  EXPECT_EQ(tree.page, "https://shop.test/");
  EXPECT_EQ(tree.window_us, 320'500);
  EXPECT_EQ(tree.started_unix_ms, 1'795'000'000'000);
  EXPECT_EQ(tree.tag("link"), "wpt:4g");
  EXPECT_EQ(tree.tag("archive"), "shop.reprise");
  ASSERT_EQ(tree.calls.size(), 6u);
  EXPECT_EQ(tree.calls[0].attribute("bytes"), "1234");
  EXPECT_EQ(tree.calls[3].name, "wait");
  EXPECT_EQ(tree.calls[3].end_us, 200'000);
  EXPECT_EQ(tree.calls[5].name, "https://shop.test/events");
  EXPECT_EQ(tree.calls[5].end_us, 320'501) << "one that never ended goes beyond the window";
  EXPECT_EQ(tree.calls[5].attribute("unfinished"), "yes");
  EXPECT_EQ(tree.calls[0].attribute("unfinished"), "");
  EXPECT_THAT(tree.losses,
              ElementsAre(Field(&CallLoss::what, "requests that did not end before the load did"),
                          Field(&CallLoss::what, "requests without a start, skipped")));
}

TEST(LoadCalls, AreThoseOfLoadsThatCount) {
  LoadResult result;
  result.loads = {a_load(), a_load(), a_load(), a_load()};
  result.loads[0].warm_up = true;
  result.loads[1].skipped = "the machine was busy";
  result.loads[2].page.outcome = LoadOutcome::kTimedOut;
  std::vector<CallLoss> losses;
  auto const views = calls_of(result, losses);
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].load, 3u);
  EXPECT_THAT(losses, ElementsAre(Field(&CallLoss::count, 1), Field(&CallLoss::count, 1)));
}

TEST(LoadCalls, NameTheUrlsThatATraceCanHaveForThePage) {
  auto page = a_load().page;
  EXPECT_THAT(urls_in_trace(page), ElementsAre("http://shop.test/", "https://shop.test/"));
  PageRequest hop{.url = "http://shop.test/"};
  hop.resource_type = "Document";
  hop.status = 301;
  PageRequest frame{.url = "https://ads.test/"};
  frame.resource_type = "Document";
  frame.status = 200;
  page.requests.insert(page.requests.begin(), hop);
  page.requests.push_back(frame);
  page.url = "http://shop.test/#now";
  page.final_url = "https://shop.test/cart?2#list";
  EXPECT_THAT(urls_in_trace(page),
              ElementsAre("http://shop.test/", "https://shop.test/", "https://shop.test/cart?2"));
  EXPECT_THAT(urls_in_trace(PageLoad()), ElementsAre());
}

}  // namespace
}  // namespace reprise
