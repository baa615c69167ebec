#include "proxy/record/trace_context.h"

#include <gmock/gmock.h>

#include "base/http/traceparent.h"

namespace reprise {
namespace {

using testing::SizeIs;

class TraceContextTest : public testing::Test {
 protected:
  std::optional<std::string> value(std::string_view host, std::vector<HeaderView> fields = {}) {
    return context_.value_for({.method = "GET", .host = host, .headers = fields});
  }
  bool is_traced(std::string_view host, std::vector<HeaderView> fields = {}) {
    auto const given = value(host, std::move(fields));
    EXPECT_TRUE(!given || parse_traceparent(*given));
    return given.has_value();
  }

  TraceContext context_{1};
};

TEST_F(TraceContextTest, TracesThePagesSiteOnly) {
  HeaderView const document{"Sec-Fetch-Dest", "document"};
  HeaderView const image{"Sec-Fetch-Dest", "image"};
  EXPECT_FALSE(is_traced("img.shop.test", {image}));
  EXPECT_TRUE(is_traced("www.shop.test", {document}));
  EXPECT_TRUE(is_traced("img.shop.test", {image}));
  EXPECT_FALSE(is_traced("ads.test", {image}));
  EXPECT_FALSE(is_traced("ads.test", {{"Sec-Fetch-Dest", "iframe"}}));
  EXPECT_FALSE(is_traced("update.test", {{"Sec-Fetch-Dest", "empty"}}));
}

TEST_F(TraceContextTest, KnowsAPageThatItsServiceWorkerFetches) {
  HeaderView const what{"Sec-Fetch-Dest", "empty"};
  HeaderView const mode{"Sec-Fetch-Mode", "navigate"};
  HeaderView const html{"Accept", "text/html"};
  EXPECT_FALSE(is_traced("files.test", {what, mode, {"Accept", "*/*"}})) << "a download";
  EXPECT_TRUE(is_traced("www.shop.test", {what, mode, html}));
  EXPECT_TRUE(is_traced("img.shop.test", {{"Sec-Fetch-Dest", "image"}}));
  EXPECT_FALSE(is_traced("ads.test", {what, mode, html, {"Referer", "https://www.shop.test/"}}));
  EXPECT_FALSE(is_traced("api.test", {what, {"Sec-Fetch-Mode", "cors"}}));
}

TEST_F(TraceContextTest, KnowsAPageWithoutSecFetchByItsMissingInitiator) {
  HeaderView const referer{"Referer", "http://shop.test/"};
  EXPECT_TRUE(is_traced("shop.test"));
  EXPECT_TRUE(is_traced("img.shop.test", {referer}));
  EXPECT_FALSE(is_traced("cdn.test", {referer}));
  EXPECT_FALSE(is_traced("api.test", {{"Origin", "http://shop.test"}}));
}

TEST_F(TraceContextTest, LeavesATraceOfTheClient) {
  EXPECT_FALSE(is_traced("shop.test", {{"TraceParent", "00-1-1-01"}}));
}

TEST_F(TraceContextTest, GivesEachRequestATraceOfItsOwn) {
  std::set<std::string> traces;
  std::set<std::string> spans;
  for (int i = 0; i < 100; ++i) {
    auto const parsed = parse_traceparent(*value("shop.test"));
    EXPECT_TRUE(parsed->sampled);
    traces.insert(parsed->trace_id);
    spans.insert(parsed->span_id);
  }
  EXPECT_THAT(traces, SizeIs(100));
  EXPECT_THAT(spans, SizeIs(100));
}

TEST_F(TraceContextTest, KeepsARequestAsItWasWithoutIt) {
  std::vector<HeaderView> const fields = {{"Host", "shop.test"}};
  RequestHead const received{.method = "GET", .host = "shop.test", .headers = fields};
  EXPECT_THAT(TracedRequest(received, nullptr).head().headers, SizeIs(1));
  TracedRequest const traced(received, &context_);
  ASSERT_THAT(traced.head().headers, SizeIs(2));
  EXPECT_EQ(traced.head().headers[1].name, "traceparent");
}

}  // namespace
}  // namespace reprise
