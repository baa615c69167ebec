#include "tools/wpr/url_list.h"

#include <gtest/gtest.h>

namespace reprise::wpr {
namespace {

TEST(UrlList, HasOneUrlPerLineWhateverEndsIt) {
  EXPECT_EQ(urls_in("http://a.test/\r\n\r\n  http://b.test/x \nhttp://c.test/"),
            (std::vector<std::string>{"http://a.test/", "http://b.test/x", "http://c.test/"}));
  EXPECT_TRUE(urls_in("").empty());
}

TEST(UrlSet, ContainsAUrlInEachSpelling) {
  UrlSet urls;
  urls.insert("https://a.test/");
  for (auto const* const url : {"https://a.test", "HTTPS://A.test/", "https://a.test:443/",
                                "https://a.test/#part", "https://a.test/b/.."}) {
    EXPECT_TRUE(urls.contains(url)) << url;
  }
  for (auto const* const url : {"http://a.test/", "https://a.test/A", "https://a.test/?",
                                "https://a.test:8443/", "https://b.test/"}) {
    EXPECT_FALSE(urls.contains(url)) << url;
  }
}

TEST(UrlSet, TakesWhatIsNotAUrlAsItIs) {
  UrlSet urls;
  urls.insert("a.test");
  EXPECT_TRUE(urls.contains("a.test"));
  EXPECT_FALSE(urls.contains("A.test"));
}

}  // namespace
}  // namespace reprise::wpr
