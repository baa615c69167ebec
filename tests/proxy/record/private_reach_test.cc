#include "proxy/record/private_reach.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

bool is_private_text(const char* text) {
  return is_private(net::ip::make_address(text));
}

TEST(PrivateAddress, IsOneThatIsNotOfTheInternet) {
  for (const char* text : {"127.0.0.1",
                           "127.255.0.9",
                           "10.1.2.3",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "169.254.1.1",
                           "100.64.0.1",
                           "100.127.255.255",
                           "198.18.0.1",
                           "198.19.255.255",
                           "0.0.0.0",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::1",
                           "::",
                           "fe80::1",
                           "fc00::1",
                           "fdff::1",
                           "ff02::1",
                           "::ffff:127.0.0.1",
                           "::ffff:192.168.0.1",
                           "64:ff9b::10.0.0.1"}) {
    EXPECT_TRUE(is_private_text(text)) << text;
  }
  for (const char* text :
       {"1.1.1.1", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
        "192.169.0.0", "100.63.255.255", "100.128.0.0", "198.17.255.255", "198.20.0.0",
        "223.255.255.255", "2001:db8::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"}) {
    EXPECT_FALSE(is_private_text(text)) << text;
  }
}

/// A request of a browser, to be judged.
class PrivateReachTest : public testing::Test {
 protected:
  static constexpr HeaderView kBrowser{"User-Agent", "Mozilla/5.0 (X11)"};
  static constexpr HeaderView kPage{"Accept", "text/html,*/*"};

  Reach of(const char* host, std::vector<HeaderView> fields) {
    return reach.of({.method = "GET", .host = host, .target = "/", .headers = fields});
  }
  void reached(const char* host, bool is_private_address, std::vector<HeaderView> fields) {
    reach.reached({.method = "GET", .host = host, .target = "/", .headers = fields},
                  is_private_address);
  }
  void load_public_page() { reached("site.test", false, {kBrowser, kPage}); }

  PrivateReach reach{{.start_urls = {"https://named.test:8443/x"}}};
};

TEST_F(PrivateReachTest, AToolGoesEverywhere) {
  load_public_page();
  EXPECT_EQ(of("localhost", {{"User-Agent", "curl/8"}, {"Accept", "*/*"}}), Reach::kAll);
  EXPECT_EQ(of("localhost", {}), Reach::kAll);
}

TEST_F(PrivateReachTest, AFirstPageMayBeLocal) {
  EXPECT_EQ(of("localhost", {kBrowser, kPage, {"Sec-Fetch-Site", "none"}}), Reach::kAll);
  EXPECT_EQ(of("app.test", {kBrowser, kPage}), Reach::kAll);
}

TEST_F(PrivateReachTest, APublicPageMayNotGoThere) {
  load_public_page();
  EXPECT_EQ(of("localhost", {kBrowser, {"Origin", "https://site.test"}}), Reach::kPublicOnly);
  EXPECT_EQ(of("localhost", {kBrowser, {"Referer", "https://site.test/a"}}), Reach::kPublicOnly);
  EXPECT_EQ(of("localhost", {kBrowser, {"Sec-Fetch-Site", "cross-site"}}), Reach::kPublicOnly);
  // Nor can it hide: no referrer, a sandboxed frame, a redirect of a page that was typed.
  EXPECT_EQ(of("192.168.1.1", {kBrowser}), Reach::kPublicOnly);
  EXPECT_EQ(of("192.168.1.1", {kBrowser, {"Origin", "null"}}), Reach::kPublicOnly);
  EXPECT_EQ(of("localhost", {kBrowser, kPage, {"Sec-Fetch-Site", "none"}}), Reach::kPublicOnly);
  EXPECT_EQ(of("localhost", {kBrowser, {"Referer", "http://localhost@site.test/"}}),
            Reach::kPublicOnly);
  EXPECT_EQ(reach.of_handshake("localhost"), Reach::kPublicOnly);
}

TEST_F(PrivateReachTest, OnlyPagesCount) {
  reached("update.test", false, {kBrowser, {"Accept", "*/*"}});
  reached("site.test", false, {{"User-Agent", "curl/8"}, kPage});
  EXPECT_EQ(of("localhost", {kBrowser}), Reach::kAll);
  EXPECT_EQ(reach.of_handshake("localhost"), Reach::kAll);
}

TEST_F(PrivateReachTest, ALocalPageGoesOnWhereverItHasBeen) {
  reached("app.test", true, {kBrowser, kPage});
  load_public_page();
  EXPECT_EQ(of("localhost", {kBrowser, {"Referer", "http://app.test/"}}), Reach::kAll);
  EXPECT_EQ(of("api.test", {kBrowser, {"Origin", "http://127.0.0.1:3000"}}), Reach::kAll);
  EXPECT_EQ(of("api.test", {kBrowser, {"Origin", "http://[::1]:3000"}}), Reach::kAll);
  EXPECT_EQ(of("localhost", {kBrowser, {"Sec-Fetch-Site", "same-origin"}}), Reach::kAll);
  EXPECT_EQ(reach.of_handshake("app.test"), Reach::kAll);
}

TEST_F(PrivateReachTest, WhatTheUserNamedIsAllowed) {
  load_public_page();
  EXPECT_EQ(of("named.test", {kBrowser}), Reach::kAll);
  EXPECT_EQ(reach.of_handshake("named.test"), Reach::kAll);
  PrivateReach all({.all = true});
  std::vector<HeaderView> const fields{kBrowser, {"Origin", "https://site.test"}};
  EXPECT_EQ(all.of({.method = "GET", .host = "localhost", .headers = fields}), Reach::kAll);
}

class PublicNamesTest : public testing::Test {
 protected:
  /// Which of the addresses may be dialled.
  std::vector<std::string> kept(const std::string& host, std::vector<std::string> texts,
                                Reach reach = Reach::kAll) {
    std::vector<net::ip::address> addresses;
    for (const std::string& text : texts) addresses.push_back(net::ip::make_address(text));
    EXPECT_EQ(names.keep_reachable(host, reach, addresses), !addresses.empty());
    texts.clear();
    for (const auto& address : addresses) texts.push_back(address.to_string());
    return texts;
  }
  using Texts = std::vector<std::string>;
  PublicNames names;
};

TEST_F(PublicNamesTest, ANameThatWasPublicDoesNotBecomePrivate) {
  EXPECT_EQ(kept("a.test", {"1.1.1.1"}), Texts{"1.1.1.1"});
  EXPECT_EQ(kept("a.test", {"127.0.0.1"}), Texts{});
  EXPECT_EQ(kept("b.test", {"10.0.0.1", "1.1.1.1"}), Texts{"1.1.1.1"});
  EXPECT_EQ(kept("b.test", {"10.0.0.1"}), Texts{});
}

TEST_F(PublicNamesTest, ANameThatWasPrivateStaysReachableForThoseWhoMay) {
  EXPECT_EQ(kept("a.test", {"10.0.0.1", "::1"}), (Texts{"10.0.0.1", "::1"}));
  EXPECT_EQ(kept("a.test", {"10.0.0.1"}, Reach::kPublicOnly), Texts{});
  EXPECT_EQ(kept("a.test", {"10.0.0.1"}), Texts{"10.0.0.1"});
  EXPECT_EQ(kept("127.0.0.1", {"127.0.0.1"}), Texts{"127.0.0.1"});
}

}  // namespace
}  // namespace reprise
