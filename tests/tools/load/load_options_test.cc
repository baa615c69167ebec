#include "tools/load/load_options.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
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
  parse_words(app, std::move(words));
  auto const cells = options.cells(options.urls());
  return cells ? "" : cells.error();
}

TEST(LoadOptions, NeedMoreTimeThanAPageHasToBeQuiet) {
  EXPECT_EQ(refusal_of({"--timeout=2"}), "--timeout must be longer than --quiet (2000 ms)");
  EXPECT_EQ(refusal_of({"--quiet=30001"}), "--timeout must be longer than --quiet (30001 ms)");
  EXPECT_EQ(refusal_of({"--timeout=3"}), "");
  EXPECT_EQ(refusal_of({"--timeout=1", "--quiet=999"}), "");
}

TEST(LoadOptions, RefuseFlagsThatLeadPastTheReplay) {
  LoadOptions options;
  CLI::App app;
  options.add_to(app);
  parse_words(app, {"a.reprise", "http://a.test/", "--chromium-flag=--lang=de",
                    "--chromium-flag=--host-resolver-rules=MAP a.test 127.0.0.1"});
  EXPECT_TRUE(options.cells(options.urls()).has_value());
  for (std::string const flag : {"--proxy-server=http://127.0.0.1:1", "--user-data-dir=/tmp/p"}) {
    options.browsing.browser_flags = {flag};
    auto const cells = options.cells(options.urls());
    ASSERT_FALSE(cells.has_value()) << flag;
    EXPECT_TRUE(cells.error().starts_with(flag.substr(0, flag.find('=')) + " needs --live"));
    EXPECT_EQ(refusal_of({"--chromium-flag=" + flag}), "") << "live, it can be anything";
  }
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
