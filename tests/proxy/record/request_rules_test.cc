#include "proxy/record/request_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace reprise {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

auto is(std::string_view name, std::string_view value) {
  return AllOf(Field(&HeaderView::name, name), Field(&HeaderView::value, value));
}

RequestHead request_to(std::string_view host, std::string_view target = "/",
                       HeaderList headers = {}) {
  return {.method = "GET",
          .scheme = Scheme::kHttps,
          .host = host,
          .port = 443,
          .target = target,
          .headers = headers};
}

TEST(AddedField, IsForAllHostsOrForOne) {
  auto const all = AddedField::parse("X-Key:  a=b: c ");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->host, "*");
  EXPECT_EQ(all->name, "X-Key");
  EXPECT_EQ(all->value, "a=b: c");
  auto const one = AddedField::parse("*.Example.org=X-Key: 1");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->host, "*.example.org");
  EXPECT_EQ(one->name, "X-Key");
}

TEST(AddedField, RefusesWhatIsNoFieldWithoutRepeatingItsValue) {
  for (const char* text :
       {"", "X-Key", ": topsecret", "=X: topsecret", "a b: topsecret", "X: topsecret\r\nY: 1",
        "Host: topsecret", "content-length: topsecret"}) {
    auto const field = AddedField::parse(text);
    ASSERT_FALSE(field) << text;
    EXPECT_THAT(field.error(), Not(HasSubstr("topsecret")));
  }
}

TEST(RequestRules, ReplaceFieldsOfTheSameName) {
  RequestRules rules;
  rules.fields = {*AddedField::parse("user-agent: mine"),
                  *AddedField::parse("other.test=X-Key: 1")};
  std::vector<HeaderView> const client{{"Host", "a.test"}, {"User-Agent", "browser"}};
  auto fields = client;
  rules.add_fields(request_to("a.test"), fields);
  EXPECT_THAT(fields, ElementsAre(is("Host", "a.test"), is("user-agent", "mine")));
  fields = client;
  rules.add_fields(request_to("other.test"), fields);
  EXPECT_THAT(fields.back(), is("X-Key", "1"));
}

class BlockedTest : public testing::Test {
 protected:
  static bool blocks(const std::string& filter, const RequestHead& request) {
    auto parsed = Filter::parse(filter, request_vocabulary());
    EXPECT_TRUE(parsed) << filter;
    RequestRules rules;
    rules.blocked.push_back({.text = filter, .filter = std::move(*parsed)});
    auto const* const by = rules.blocked_by(request);
    if (by != nullptr) EXPECT_EQ(*by, filter);
    return by != nullptr;
  }
};

TEST_F(BlockedTest, TestsWhatIsKnownOfARequest) {
  auto const ad = request_to("ads.test", "/a.js?id=7");
  for (const char* filter : {"host=.ads.test", "path=/a.js", "query=id=7", "method=get",
                             "scheme=https", "url=https://ads.test/*", "ads"}) {
    EXPECT_TRUE(blocks(filter, ad)) << filter;
  }
  EXPECT_FALSE(blocks("host=other.test", ad));
  EXPECT_FALSE(Filter::parse("status=200", request_vocabulary()));
}

TEST_F(BlockedTest, KnowsWhatTheBrowserAsksFor) {
  auto const asked_for = [](std::string_view destination, const std::string& resource) {
    HeaderView const field{"sec-fetch-dest", destination};
    return blocks("resource=" + resource, request_to("a.test", "/", {&field, 1}));
  };
  EXPECT_TRUE(asked_for("image", "image"));
  EXPECT_TRUE(asked_for("style", "stylesheet"));
  EXPECT_TRUE(asked_for("iframe", "document"));
  EXPECT_TRUE(asked_for("empty", "fetch"));
  EXPECT_TRUE(asked_for("embed", "document"));
  EXPECT_TRUE(asked_for("sharedworker", "script"));
  EXPECT_TRUE(asked_for("track", "media"));
  EXPECT_TRUE(asked_for("report", "report")) << "as the browser sends it";
  EXPECT_FALSE(asked_for("script", "image"));
  EXPECT_FALSE(blocks("resource=image", request_to("a.test")));
  std::vector<HeaderView> const navigation{
      {"sec-fetch-dest", "empty"}, {"sec-fetch-mode", "navigate"}, {"accept", "text/html"}};
  EXPECT_TRUE(blocks("resource=document", request_to("a.test", "/", navigation)));
  auto socket = request_to("a.test");
  socket.protocol = "websocket";
  EXPECT_TRUE(blocks("resource=websocket", socket));
}

}  // namespace
}  // namespace reprise
