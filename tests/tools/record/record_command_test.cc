#include "tools/record/record_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/link/linked_command.h"
#include "tools/load/browsing_options.h"
#include "tools/process/command_line.h"
#include "tools/record/browse_command.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;

/// What `record --urls` with these words gives the `record` of a page.
std::vector<std::string> passed_on_of(std::vector<std::string> words, LinkOptions& options) {
  CLI::App command("", "record");
  options.add_to(command);
  parse_words(command, std::move(words));
  return passed_on(command);
}

TEST(RecordCommand, PassesOnWhatWasGivenWithAListOfPages) {
  LinkOptions options;
  EXPECT_THAT(passed_on_of({"--no-selfcheck", "--link", "wpt:4g", "--no-realtime"}, options),
              ElementsAre("--link=wpt:4g", "--realtime=false", "--no-selfcheck=true"));
}

TEST(RecordCommand, PassesFlagsOnThatMeanTheSameAgain) {
  for (auto const* const flag : {"--realtime", "--no-realtime", "--keep-awake"}) {
    LinkOptions given;
    LinkOptions passed;
    auto const words = passed_on_of({flag}, given);
    EXPECT_EQ(passed_on_of(words, passed), words) << flag;
    EXPECT_EQ(passed.realtime, given.realtime) << flag;
    EXPECT_EQ(passed.keep_awake, given.keep_awake) << flag;
  }
}

TEST(RecordCommand, PassesFlagsOnToTheBrowser) {
  RecordOptions options;
  CLI::App command("", "record");
  command.add_option("--chromium-flag", options.browser_flags)->allow_extra_args(false);
  parse_words(command, {"--chromium-flag=--lang=de", "--chromium-flag=--no-sandbox"});
  EXPECT_THAT(passed_on(command),
              UnorderedElementsAre("--chromium-flag=--no-sandbox", "--chromium-flag=--lang=de"));
  EXPECT_THAT(browse_command(options), IsSupersetOf(passed_on(command)));
}

/// The exit code with which these are refused; -1 if they are not.
int refusal_of(const std::filesystem::path& browser, std::vector<std::string> flags) {
  RecordOptions options;
  options.browser = browser;
  options.browser_flags = std::move(flags);
  auto const refused = refused_browser(options);
  return refused ? refused->exit_code : -1;
}

TEST(RecordCommand, RefusesABrowserThatCannotRecord) {
  EXPECT_EQ(refusal_of("/bin/sh", {"--lang=de"}), -1);
  EXPECT_EQ(refusal_of("/nonexistent/chromium", {}), kExitFailed);
  EXPECT_EQ(refusal_of("firefox-esr", {}), kExitUsage);
  for (auto const* const flag : {"--proxy-server=http://127.0.0.1:1", "--user-data-dir=/tmp/p",
                                 "--host-resolver-rules=MAP a.test 127.0.0.1"}) {
    EXPECT_EQ(refusal_of("/bin/sh", {flag}), kExitUsage) << flag;
  }
}

TEST(RecordCommand, WaitsAsLongForAQuietPageAsALoadDoes) {
  EXPECT_EQ(RecordOptions().quiet_ms, BrowsingOptions().quiet_ms);
}

}  // namespace
}  // namespace reprise
