#include "base/http/url.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

struct UrlCase {
  std::string_view reference;
  std::string_view url;  ///< empty: none
};

constexpr std::string_view kBase = "https://a.test/b/c/d?e";

// After the tests of the URL standard (WPT url/resources/urltestdata.json).
const UrlCase kUrlCases[] = {
    {"x", "https://a.test/b/c/x"},
    {"./x", "https://a.test/b/c/x"},
    {"../x", "https://a.test/b/x"},
    {"../../../x", "https://a.test/x"},
    {"x/./y/../z", "https://a.test/b/c/x/z"},
    {"x/..", "https://a.test/b/c/"},
    {"x/.", "https://a.test/b/c/x/"},
    {"%2e%2E/x", "https://a.test/b/x"},
    {".%2e", "https://a.test/b/"},
    {"/x", "https://a.test/x"},
    {"/", "https://a.test/"},
    {"\\x\\y", "https://a.test/x/y"},
    {"//b.test/x", "https://b.test/x"},
    {"///b.test/x", "https://b.test/x"},
    {"\\\\b.test\\x", "https://b.test/x"},
    {"//b.test", "https://b.test/"},
    {"//b.test?q", "https://b.test/?q"},
    {"?q", "https://a.test/b/c/d?q"},
    {"?", "https://a.test/b/c/d?"},
    {"", "https://a.test/b/c/d?e"},
    {"#f", "https://a.test/b/c/d?e"},
    {"x#f", "https://a.test/b/c/x"},
    {"x?y#f", "https://a.test/b/c/x?y"},
    {"x?a/../b\\c", "https://a.test/b/c/x?a/../b\\c"},
    {" \t\n x y \r ", "https://a.test/b/c/x%20y"},
    {"x\n\ty", "https://a.test/b/c/xy"},
    {"ht\ntps://b.test/", "https://b.test/"},
    {"http://b.test/", "http://b.test/"},
    {"HTTP://B.Test:80/X", "http://b.test/X"},
    {"https://b.test:443", "https://b.test/"},
    {"https://b.test:8443/", "https://b.test:8443/"},
    {"https://b.test:/", "https://b.test/"},
    {"https://b.test:0080/", "https://b.test:80/"},
    {"https:x", "https://a.test/b/c/x"},
    {"https:/x", "https://a.test/x"},
    {"http:x", "http://x/"},
    {"http:/x", "http://x/"},
    {"https://b.te%73t/", "https://b.test/"},
    {"https://[::1]:8080/x", "https://[::1]:8080/x"},
    {"\xC3\xA9?\xC3\xA9", "https://a.test/b/c/%C3%A9?%C3%A9"},
    {"x|y^z`{}\"<>", "https://a.test/b/c/x|y%5Ez%60%7B%7D%22%3C%3E"},
    {"?a'b\"<>`{}|", "https://a.test/b/c/d?a%27b%22%3C%3E`{}|"},
    {"%zz%", "https://a.test/b/c/%zz%"},
    {"a:b", ""},
    {"data:,x", ""},
    {"javascript:x()", ""},
    {"1a:b", "https://a.test/b/c/1a:b"},
    {"https://", ""},
    {"https://b test/", ""},
    {"https://b.test:99999/", ""},
    {"https://b.test:x/", ""},
    {"https://user@b.test/", ""},
    {"https://[::1/", ""},
    {"https://\xC3\xA9.test/", ""},
};

TEST(ResolvedUrl, IsAsBrowsersHaveItInEveryCaseOfTheTable) {
  for (const UrlCase& one : kUrlCases) {
    EXPECT_EQ(resolved_url(one.reference, kBase).value_or(""), one.url) << one.reference;
  }
}

TEST(ResolvedUrl, OfAResultIsTheSame) {
  for (const UrlCase& one : kUrlCases) {
    if (one.url.empty()) continue;
    EXPECT_EQ(absolute_url(one.url), one.url);
    EXPECT_EQ(resolved_url(one.url, kBase), one.url);
  }
}

TEST(AbsoluteUrl, IsNothingForARelativeOne) {
  EXPECT_EQ(absolute_url("/x"), std::nullopt);
  EXPECT_EQ(absolute_url("b.test"), std::nullopt);
  EXPECT_EQ(absolute_url("ftp://b.test/"), std::nullopt);
  EXPECT_EQ(absolute_url("HTTPS://B.test"), "https://b.test/");
}

TEST(OriginOfUrl, HasThePort) {
  EXPECT_EQ(origin_of_url("https://a.test:1/b/c?d"), "https://a.test:1");
  EXPECT_EQ(origin_of_url("https://a.test/"), "https://a.test");
}

}  // namespace
}  // namespace reprise
