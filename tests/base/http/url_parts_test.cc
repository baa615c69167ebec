#include "base/http/url_parts.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(UrlParts, AreThoseOfAnyText) {
  auto const whole = url_parts("https://user@[::1]:443/a?b#c");
  EXPECT_EQ(whole.scheme, "https");
  EXPECT_EQ(whole.host, "::1");
  EXPECT_EQ(whole.path, "/a");
  EXPECT_EQ(whole.query, "b");
  EXPECT_EQ(url_parts("http://[").host, "");
  EXPECT_EQ(url_parts("http://a.test:8080?x=/").host, "a.test");
  EXPECT_EQ(url_parts("http://a.test:8080?x=/").query, "x=/");
  EXPECT_EQ(url_parts("/path?query").path, "/path");
  EXPECT_EQ(url_parts("/go?to=https://b.test/x").path, "/go");
  EXPECT_EQ(url_parts("/go?to=https://b.test/x").host, "");
  EXPECT_EQ(url_parts("/https://b.test/x").path, "/https://b.test/x");
  EXPECT_EQ(url_parts("about:blank").host, "");
  EXPECT_EQ(url_parts("").path, "");
}

TEST(UrlParts, CanBeTakenAwayFromTheEnd) {
  EXPECT_EQ(without_fragment("https://a.test/b?c#d?e#f"), "https://a.test/b?c");
  EXPECT_EQ(without_query("https://a.test/b?c#d"), "https://a.test/b");
  EXPECT_EQ(without_query("https://a.test/b#d?c"), "https://a.test/b");
  EXPECT_EQ(without_query("https://a.test/b"), "https://a.test/b");
}

}  // namespace
}  // namespace reprise
