#include "tools/record/record_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
  std::ranges::reverse(words);  // as CLI11 wants it
  command.parse(words);
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
  command.parse(
      std::vector<std::string>{"--chromium-flag=--lang=de", "--chromium-flag=--no-sandbox"});
  EXPECT_THAT(passed_on(command),
              UnorderedElementsAre("--chromium-flag=--no-sandbox", "--chromium-flag=--lang=de"));
  EXPECT_THAT(browse_command(options), IsSupersetOf(passed_on(command)));
}

TEST(RecordCommand, WaitsAsLongForAQuietPageAsALoadDoes) {
  EXPECT_EQ(RecordOptions().quiet_ms, BrowsingOptions().quiet_ms);
}

}  // namespace
}  // namespace reprise
