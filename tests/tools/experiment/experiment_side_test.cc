#include "tools/experiment/experiment_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scratch_folder.h"
#include "tools/commands.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ExperimentSide, RefusesWhatLoadAloneReads) {
  for (auto const* const option :
       {"--runs=3", "--warm-up=1", "--budget=9m", "--seed=7", "--har=har"}) {
    auto const side = ExperimentSide::of_words({"a.reprise", "http://a.test/", option});
    ASSERT_FALSE(side) << option;
    std::string const text(option);
    EXPECT_THAT(side.error().text, StartsWith(text.substr(0, text.find('=')) + " is for "));
  }
  for (auto const* const option : {"--output=a.json", "--record-to=b", "--record-flag=--fsync"}) {
    EXPECT_FALSE(ExperimentSide::of_words({"a.reprise", "http://a.test/", option})) << option;
  }
}

TEST(ExperimentSide, RefusesWhatIsNotTheUrlOfAPage) {
  auto const side = ExperimentSide::of_words({"a.reprise", "file:///etc/passwd"});
  ASSERT_FALSE(side);
  EXPECT_EQ(side.error().exit_code, kExitUsage);
  EXPECT_THAT(side.error().text, HasSubstr("'file:///etc/passwd' is not the URL of a page"));
}

TEST(ExperimentSide, RefusesALinkThatNoLoadCouldUse) {
  auto const side =
      ExperimentSide::of_words({"a.reprise", "http://a.test/", "--link", "wpt:4g,9mbit/oops/1ms"});
  ASSERT_FALSE(side);
  EXPECT_EQ(side.error().exit_code, kExitUsage);
  EXPECT_THAT(side.error().text, HasSubstr("9mbit/oops/1ms"));
}

TEST(ExperimentSide, HasTheFoldersForTheFilesAboutItsLoads) {
  ScratchFolder const folder;
  auto const side = ExperimentSide::of_words({"a.reprise", "http://a.test/", "--screenshot",
                                              (folder / "one/pictures").string(), "--trace",
                                              (folder / "traces").string()});
  ASSERT_TRUE(side) << side.error().text;
  EXPECT_TRUE(std::filesystem::is_directory(folder / "one/pictures"));
  EXPECT_TRUE(std::filesystem::is_directory(folder / "traces"));
}

}  // namespace
}  // namespace reprise
