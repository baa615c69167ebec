#include "tools/wpr/input/ignored_param.h"

#include <gtest/gtest.h>

namespace reprise::wpr {
namespace {

std::optional<std::string> stripped(std::string_view param, std::string_view target,
                                    Scheme scheme = Scheme::kHttps) {
  return IgnoredParam::parse(param)->stripped({.method = "GET",
                                               .scheme = scheme,
                                               .host = "a.test",
                                               .port = default_port(scheme),
                                               .target = target});
}

TEST(IgnoredParam, IsTakenOutAndTheOthersKeepTheirOrder) {
  constexpr const char* kParam = "https://a.test/p::q";
  EXPECT_EQ(stripped(kParam, "/p?q=1"), "/p");
  EXPECT_EQ(stripped(kParam, "/p?a=1&q=2&b=3"), "/p?a=1&b=3");
  EXPECT_EQ(stripped(kParam, "/p?q=1&b&q=2&c=q"), "/p?b&c=q");
  EXPECT_EQ(stripped(kParam, "/path/below?q=1&z=1"), "/path/below?z=1");
}

TEST(IgnoredParam, LeavesOtherParametersAndUrls) {
  constexpr const char* kParam = "https://a.test/p::q";
  for (auto const* const target : {"/p", "/p?", "/p?qq=1", "/p?q", "/p?a=q=1", "/other?q=1"}) {
    EXPECT_EQ(stripped(kParam, target), std::nullopt) << target;
  }
  EXPECT_EQ(stripped(kParam, "/p?q=1", Scheme::kHttp), std::nullopt);
}

TEST(IgnoredParam, IsNamedAfterTheLastColons) {
  auto const param = IgnoredParam::parse("https://a.test/x::y::q");
  ASSERT_TRUE(param);
  EXPECT_EQ(param->url_prefix, "https://a.test/x::y");
  EXPECT_EQ(param->name, "q");
  for (auto const* const wrong : {"", "q", "::q", "https://a.test/::", "https://a.test/:q"}) {
    EXPECT_FALSE(IgnoredParam::parse(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace reprise::wpr
