#include "tools/load/load_options.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/scratch_folder.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

/// Why `load` with these words after a page is refused; empty if it is not.
std::string refusal_of(std::vector<std::string> words) {
  CLI::App app;
  LoadOptions options;
  options.add_to(app);
  words.insert(words.begin(), {"--live", "http://a.test/"});
  std::ranges::reverse(words);  // the order that CLI11 needs
  app.parse(words);
  auto const cells = options.cells(options.urls());
  return cells ? "" : cells.error();
}

TEST(LoadOptions, NeedMoreTimeThanAPageHasToBeQuiet) {
  EXPECT_EQ(refusal_of({"--timeout=2"}), "--timeout must be longer than --quiet (2000 ms)");
  EXPECT_EQ(refusal_of({"--quiet=30001"}), "--timeout must be longer than --quiet (30001 ms)");
  EXPECT_EQ(refusal_of({"--timeout=3"}), "");
  EXPECT_EQ(refusal_of({"--timeout=1", "--quiet=999"}), "");
}

TEST(LoadOptions, NeedFoldersInWhichFilesCanBeCreated) {
  for (auto const folder_of : {+[](LoadOptions& o) { return &o.browsing.screenshot_folder; },
                               +[](LoadOptions& o) { return &o.browsing.trace_folder; },
                               +[](LoadOptions& o) { return &o.har_folder; }}) {
    ScratchFolder const scratch;
    LoadOptions options;
    *folder_of(options) = scratch.path();
    EXPECT_TRUE(options.make_folders().has_value());
    ASSERT_EQ(::chmod(scratch.path().c_str(), 0500), 0);
    // Root may write everywhere, so it is somebody else for the moment.
    auto const user = ::geteuid();
    if (user == 0) ASSERT_EQ(::seteuid(65534), 0);
    auto const made = options.make_folders();
    if (user == 0) ASSERT_EQ(::seteuid(0), 0);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error(),
              "no file can be created in " + scratch.path().string() + ": Permission denied");
  }
}

}  // namespace
}  // namespace reprise
