#include "pageload/browser/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(BrowserFlags, MergeFeatureListsSinceChromiumHeedsOnlyTheLast) {
  BrowserOptions options;
  options.extra_flags = {"--disable-features=Mine", "--host-resolver-rules=MAP * 127.0.0.1",
                         "--enable-features=A", "--enable-features=B"};
  auto const flags = browser_flags(options, "/tmp/p");
  EXPECT_EQ(std::ranges::count_if(
                flags, [](const auto& flag) { return flag.starts_with("--disable-features="); }),
            1);
  EXPECT_THAT(flags, Contains(testing::AllOf(StartsWith("--disable-features="),
                                             HasSubstr("HttpsUpgrades"), HasSubstr(",Mine"))));
  EXPECT_THAT(flags, Contains("--enable-features=A,B"));
  EXPECT_THAT(flags, Contains("--host-resolver-rules=MAP * 127.0.0.1"));
  EXPECT_EQ(flags.back(), "about:blank");
}

// A replay's flags follow the user's.
TEST(BrowserFlags, MergeRulesAndKeysOfTheUserWithThoseOfAReplay) {
  BrowserOptions options;
  options.extra_flags = {"--host-resolver-rules=MAP api.test 127.0.0.1:9",
                         "--ignore-certificate-errors-spki-list=mine",
                         "--origin-to-force-quic-on=api.test:443",
                         "--host-resolver-rules=MAP * 127.0.0.1:8080",
                         "--ignore-certificate-errors-spki-list=replay",
                         "--origin-to-force-quic-on=a.test:443"};
  auto const flags = browser_flags(options, "/tmp/p");
  EXPECT_THAT(flags,
              Contains("--host-resolver-rules=MAP api.test 127.0.0.1:9,MAP * 127.0.0.1:8080"))
      << "the first rule that matches counts";
  EXPECT_THAT(flags, Contains("--ignore-certificate-errors-spki-list=mine,replay"));
  EXPECT_THAT(flags, Contains("--origin-to-force-quic-on=api.test:443,a.test:443"));
  EXPECT_EQ(std::ranges::count_if(
                flags, [](const auto& flag) { return flag.starts_with("--host-resolver-rules="); }),
            1);
}

TEST(MisleadingFlag, IsOneThatLeadsElsewhere) {
  EXPECT_EQ(misleading_flag({}), "");
  EXPECT_EQ(misleading_flag({"--lang=de", "--host-resolver-rules=MAP * 127.0.0.1",
                             "--proxy-server-is-no-flag=1"}),
            "");
  EXPECT_EQ(misleading_flag({"--lang=de", "--proxy-server=http://127.0.0.1:1"}), "--proxy-server");
  EXPECT_EQ(misleading_flag({"-proxy-pac-url=data:,"}), "--proxy-pac-url");
  EXPECT_EQ(misleading_flag({"--proxy-auto-detect"}), "--proxy-auto-detect");
  EXPECT_EQ(misleading_flag({"--user-data-dir=/tmp/p"}), "--user-data-dir");
  EXPECT_EQ(misleading_flag({"--rules=1"}, "--rules"), "--rules");
}

TEST(BrowserFlags, AreSaidOnceEach) {
  BrowserOptions options;
  options.extra_flags = {"--disable-sync", "--mine", "--mine"};
  auto const flags = browser_flags(options, "/tmp/p");
  EXPECT_EQ(std::ranges::count(flags, "--disable-sync"), 1);
  EXPECT_EQ(std::ranges::count(flags, "--mine"), 1);
}

TEST(BrowserFlags, ShowTheBrowserWhenAsked) {
  BrowserOptions options;
  EXPECT_THAT(browser_flags(options, "/tmp/p"), Contains("--headless"));
  options.headless = false;
  EXPECT_THAT(browser_flags(options, "/tmp/p"), Not(Contains("--headless")));
}

TEST(BrowserFlags, PermitExtensionsOnlyWhereThereAreSome) {
  BrowserOptions options;
  EXPECT_THAT(browser_flags(options, "/tmp/p"), Contains("--disable-extensions"));
  options.extensions = {"/tmp/extension"};
  EXPECT_THAT(browser_flags(options, "/tmp/p"), Not(Contains("--disable-extensions")));
}

TEST(LeadToH3, LeadsAllWhereTheListDoesNotFitBesideTheOtherFlags) {
  H3Origins led;
  std::set<std::string> offered;
  for (int i = 0; i < 1100; ++i) {
    auto const host = "host-" + std::to_string(i) + ".some.example.test";
    led.emplace_back(host, std::uint16_t{443});
    offered.insert(host);
  }
  std::vector<std::string> flags{"--one"};
  EXPECT_TRUE(lead_to_h3(flags, led, {}));
  EXPECT_THAT(flags.back(), StartsWith("--origin-to-force-quic-on=host-0.some.example.test:443,"));
  EXPECT_THAT(flags.back(), EndsWith(",host-1099.some.example.test:443"));
  std::vector<std::string> const long_flags{"--host-resolver-rules=" + std::string(110'000, 'x')};
  flags = long_flags;
  EXPECT_FALSE(lead_to_h3(flags, led, {}));
  EXPECT_EQ(flags.back(), "--origin-to-force-quic-on=*");
  flags = long_flags;
  EXPECT_TRUE(lead_to_h3(flags, {}, offered)) << "no host is led";
  EXPECT_EQ(flags.back(), "--origin-to-force-quic-on=*:1");
  flags = {std::string(200'000, 'x')};
  EXPECT_TRUE(lead_to_h3(flags, {}, {}));
  EXPECT_EQ(flags.size(), 1);
}

TEST(FindBrowser, TakesAPathAsItIsAndANameFromPath) {
  EXPECT_EQ(find_browser("/bin/sh"), "/bin/sh");
  EXPECT_TRUE(find_browser("sh").has_value());
  EXPECT_EQ(find_browser("no-such-browser"), std::nullopt);
  EXPECT_EQ(find_browser("/bin"), std::nullopt);
}

TEST(CheckBrowser, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(check_browser("/bin/sh"), "");
  EXPECT_EQ(check_browser("/nonexistent/chromium"),
            "There is no browser at /nonexistent/chromium.");
  EXPECT_EQ(check_browser("no-such-browser"), "There is no browser on PATH named no-such-browser.");
  EXPECT_EQ(check_browser("/etc/passwd"), "/etc/passwd could not be started: Permission denied.");
}

/// With the programs that a test installs on PATH, and no others.
class BrowserOnPath : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* const path = std::getenv("PATH")) before_ = path;
    ::setenv("PATH", folder_.path().c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", before_.c_str(), 1); }

  void install(std::string_view name) {
    std::filesystem::create_symlink(FAKE_BROWSER, folder_ / name);
  }

  ScratchFolder folder_;
  std::string before_ = "/usr/bin:/bin";
};

TEST_F(BrowserOnPath, IsAnyKnownOneIfChromiumIsNotInstalled) {
  for (auto const* const name : {"chromium-headless-shell", "chromium-browser",
                                 "google-chrome-stable", "google-chrome", "chromium"}) {
    install(name);
    EXPECT_EQ(find_browser("chromium"), folder_ / name);
    EXPECT_EQ(find_browser(""), folder_ / name);
  }
  EXPECT_EQ(find_browser("google-chrome"), folder_ / "google-chrome");
}

TEST_F(BrowserOnPath, IsMissingIfNoKnownOneIsInstalled) {
  for (auto const* const wanted : {"", "chromium"}) {
    EXPECT_THAT(check_browser(wanted), StartsWith("No browser was found: install"));
  }
  install("google-chrome");
  EXPECT_EQ(check_browser("chromium"), "");
}

TEST_F(BrowserOnPath, IsNamedIfItStandsInForChromium) {
  BrowserOptions options;
  options.program = "chromium";
  for (auto const& [name, version] :
       {std::pair{"google-chrome", "Fake/1 (google-chrome)"}, std::pair{"chromium", "Fake/1"}}) {
    install(name);
    std::string failure;
    auto const browser = Browser::start(options, &failure);
    ASSERT_TRUE(browser.has_value()) << failure;
    EXPECT_EQ((*browser)->version(), version);
  }
}

TEST(BrowserEnvironment, KeepsTheUsersHomeOut) {
  auto const environment = browser_environment("/tmp/p");
  EXPECT_EQ(std::ranges::count_if(environment,
                                  [](const auto& entry) { return entry.starts_with("HOME="); }),
            1);
  EXPECT_THAT(environment, Contains("HOME=/tmp/p"));
}

}  // namespace
}  // namespace reprise
