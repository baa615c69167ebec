#include "proxy/record/upstream_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(UpstreamProxy, IsReadFromAUrl) {
  auto const proxy = UpstreamProxy::parse("http://jane:s3cret%3Apass@Proxy.Corp:3128/");
  ASSERT_TRUE(proxy);
  EXPECT_EQ(proxy->kind, UpstreamProxy::Kind::kHttp);
  EXPECT_EQ(proxy->place(), "proxy.corp:3128");
  EXPECT_EQ(proxy->user, "jane");
  EXPECT_EQ(proxy->password, "s3cret:pass");
  EXPECT_EQ(proxy->authorization(), "Basic amFuZTpzM2NyZXQ6cGFzcw==");
}

TEST(UpstreamProxy, HasDefaults) {
  auto const bare = UpstreamProxy::parse("proxy.corp");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->place(), "proxy.corp:80");
  EXPECT_EQ(bare->authorization(), "");
  auto const socks = UpstreamProxy::parse("socks5h://[::1]");
  ASSERT_TRUE(socks);
  EXPECT_EQ(socks->kind, UpstreamProxy::Kind::kSocks5);
  EXPECT_EQ(socks->place(), "[::1]:1080");
}

TEST(UpstreamProxy, RefusesOtherTextsWithoutRepeatingThem) {
  for (const char* text : {"", "https://topsecret@a", "http://topsecret@", "a:topsecret", "a:0",
                           "a:70000", "[::1", "[::1]x", "ftp://a"}) {
    auto const proxy = UpstreamProxy::parse(text);
    ASSERT_FALSE(proxy) << text;
    EXPECT_THAT(proxy.error(), Not(HasSubstr("topsecret")));
  }
}

class UpstreamProxiesTest : public testing::Test {
 protected:
  UpstreamProxies made(const std::string& option = "") {
    auto all = UpstreamProxies::make(option, [this](const char* name) {
      auto const found = environment_.find(name);
      return found == environment_.end() ? std::string() : found->second;
    });
    EXPECT_TRUE(all);
    return all ? *all : UpstreamProxies();
  }
  static std::string through(const UpstreamProxies& all, Scheme scheme, const std::string& host,
                             std::uint16_t port = 80) {
    auto const* const proxy = all.proxy_for(scheme, host, port);
    return proxy == nullptr ? "" : proxy->host;
  }

  std::map<std::string, std::string> environment_;
};

TEST_F(UpstreamProxiesTest, TakesTheEnvironmentAsCurlDoes) {
  environment_ = {
      {"http_proxy", "plain"}, {"HTTPS_PROXY", "secure"}, {"all_proxy", "socks5://any"}};
  auto const all = made();
  EXPECT_EQ(through(all, Scheme::kHttp, "a.test"), "plain");
  EXPECT_EQ(through(all, Scheme::kHttps, "a.test"), "secure");
  EXPECT_TRUE(all.is_proxy("plain"));
  EXPECT_FALSE(all.is_proxy("any"));
  environment_ = {{"HTTP_PROXY", "from-a-request"}, {"ALL_PROXY", "any"}};
  EXPECT_EQ(through(made(), Scheme::kHttp, "a.test"), "any");
}

TEST_F(UpstreamProxiesTest, TheOptionComesFirst) {
  environment_ = {{"http_proxy", "plain"}, {"https_proxy", "secure"}};
  EXPECT_EQ(through(made("mine:1"), Scheme::kHttp, "a.test"), "mine");
  EXPECT_EQ(through(made("mine:1"), Scheme::kHttps, "a.test"), "mine");
  EXPECT_EQ(through(made("none"), Scheme::kHttp, "a.test"), "");
}

TEST_F(UpstreamProxiesTest, LoopbackIsReachedDirectly) {
  auto const all = made("mine");
  for (const char* host : {"localhost", "app.localhost", "127.0.0.1", "127.1.2.3", "::1"}) {
    EXPECT_EQ(through(all, Scheme::kHttp, host), "") << host;
  }
}

TEST_F(UpstreamProxiesTest, NoProxyListsNamesAddressesAndNetworks) {
  environment_ = {
      {"NO_PROXY", "example.org, .corp *.lan,10.0.0.0/8,2001:db8::/32,other.test:8443"}};
  auto const all = made("mine");
  for (const char* host :
       {"example.org", "www.example.org", "a.corp", "corp", "b.lan", "10.1.2.3", "2001:db8::7"}) {
    EXPECT_EQ(through(all, Scheme::kHttps, host, 443), "") << host;
  }
  for (const char* host : {"badexample.org", "acorp", "11.1.2.3", "2001:db9::7", "other.test"}) {
    EXPECT_EQ(through(all, Scheme::kHttps, host, 443), "mine") << host;
  }
  EXPECT_EQ(through(all, Scheme::kHttps, "other.test", 8443), "");
  environment_ = {{"no_proxy", "*"}};
  EXPECT_EQ(through(made("mine"), Scheme::kHttp, "a.test"), "");
}

}  // namespace
}  // namespace reprise
