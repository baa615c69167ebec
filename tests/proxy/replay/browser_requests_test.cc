#include "proxy/replay/browser_requests.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

/// What a GET of `url` (scheme://host/path) comes to: "STATUS why", or "a page's".
std::string asked(std::string_view url, HeaderList headers = {}, std::string_view method = "GET") {
  auto const host_at = url.find("://") + 3;
  auto const path_at = url.find('/', host_at);
  auto const answer =
      answer_browser({.key = {.method = method,
                              .scheme = url.starts_with("https") ? Scheme::kHttps : Scheme::kHttp,
                              .host = url.substr(host_at, path_at - host_at),
                              .port = 443,
                              .target = url.substr(path_at)},
                      .headers = headers});
  return answer ? std::to_string(answer->status) + " " + answer->why : "a page's";
}

TEST(BrowserRequests, AreKnownByHostAndPath) {
  EXPECT_EQ(asked("https://safebrowsing.googleapis.com/v4/fullHashes:find?x=1"),
            "404 safe browsing");
  EXPECT_EQ(asked("https://update.googleapis.com/service/update2/json"), "404 update");
  EXPECT_EQ(asked("https://firefox.settings.services.mozilla.com/v1/"),
            "404 service of the browser");
  EXPECT_EQ(asked("http://connectivitycheck.gstatic.com/generate_204"), "204 connectivity check");
  EXPECT_EQ(asked("http://detectportal.firefox.com/success.txt?ipv4"), "200 connectivity check");
  EXPECT_EQ(asked("https://clients2.google.com/anything"), "a page's");
  EXPECT_EQ(asked("https://notupdate.googleapis.com/"), "a page's");
  EXPECT_EQ(asked("https://services.mozilla.com.evil.test/"), "a page's");
}

TEST(BrowserRequests, AreNotThoseThatNameAPage) {
  std::string_view const url = "https://content-autofill.googleapis.com/v1/pages";
  std::vector<HeaderView> fields{{.name = "Sec-Fetch-Site", .value = "none"}};
  EXPECT_EQ(asked(url, fields), "404 service of the browser");
  fields = {{.name = "Sec-Fetch-Site", .value = "cross-site"}};
  EXPECT_EQ(asked(url, fields), "a page's");
  fields = {{.name = "Referer", .value = "https://a.test/"}};
  EXPECT_EQ(asked(url, fields), "a page's");
  fields = {{.name = "Origin", .value = "https://a.test"}};
  EXPECT_EQ(asked(url, fields), "a page's");
  fields = {{.name = "Origin", .value = "chrome-extension://abc"}};
  EXPECT_EQ(asked(url, fields), "404 service of the browser");
  fields = {{.name = "Sec-Fetch-Site", .value = "none"},
            {.name = "Sec-Fetch-Mode", .value = "navigate"}};
  EXPECT_EQ(asked(url, fields), "a page's");
}

TEST(BrowserRequests, AreIconsOfAnyHost) {
  std::vector<HeaderView> const of_page{{.name = "Referer", .value = "https://a.test/"},
                                        {.name = "Sec-Fetch-Site", .value = "same-origin"}};
  EXPECT_EQ(asked("https://a.test/favicon.ico", of_page), "404 favicon");
  EXPECT_EQ(asked("https://a.test/apple-touch-icon.png", of_page), "404 favicon");
  EXPECT_EQ(asked("https://a.test/img/favicon.ico", of_page), "a page's");
  EXPECT_EQ(asked("https://a.test/favicon.ico", {}, "POST"), "a page's");
  std::vector<HeaderView> const typed{{.name = "Sec-Fetch-Mode", .value = "navigate"}};
  EXPECT_EQ(asked("https://a.test/favicon.ico", typed), "a page's");
}

TEST(BrowserRequests, AreProbesOfTheResolver) {
  EXPECT_EQ(asked("http://qzkwjvxh/", {}, "HEAD"), "404 check of the resolver");
  EXPECT_EQ(asked("http://qzkwjvxh/", {}), "a page's");
  EXPECT_EQ(asked("http://a.test/", {}, "HEAD"), "a page's");
  EXPECT_EQ(asked("http://short/", {}, "HEAD"), "a page's");
}

TEST(BrowserRequests, AreAboutRevokedCertificates) {
  std::vector<HeaderView> const post{{.name = "Content-Type", .value = "application/ocsp-request"}};
  EXPECT_EQ(asked("http://r3.o.test/", post, "POST"), "404 revocation check");
  EXPECT_EQ(asked("http://ocsp.pki.test/MFEwTzBN"), "404 revocation check");
  EXPECT_EQ(asked("http://c.pki.test/gts.crl"), "404 revocation check");
  EXPECT_EQ(asked("https://c.pki.test/gts.crl"), "a page's");
}

}  // namespace
}  // namespace reprise
