#include "tools/load/browsing_options.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "pageload/run/load_run.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;

TEST(BrowsingOptions, GiveALoadTheTimeOfItsPageAndOfEachStep) {
  BrowsingOptions options;
  options.timeout_s = 10;
  EXPECT_EQ(options.time_limit(), load_time_limit(10s));
  options.steps = {{.kind = Step::Kind::kClick, .selector = "#a"},
                   {.kind = Step::Kind::kPause, .pause = 600s},
                   {.kind = Step::Kind::kPause, .pause = 1ms},
                   {.kind = Step::Kind::kAppear, .selector = ".b"}};
  EXPECT_EQ(options.time_limit(), load_time_limit(10s) + 10s + 600s + 1s + 10s + 10s);
}

TEST(BrowsingOptions, GiveAPageThatIsLeftToTheUserADay) {
  BrowsingOptions options;
  options.keep_open = true;
  EXPECT_EQ(options.time_limit(), 24h);
}

/// What `words` are parsed to.
BrowsingOptions parsed_from(std::vector<std::string> words) {
  CLI::App app;
  BrowsingOptions options;
  options.add_to(app);
  parse_words(app, std::move(words));
  return options;
}

TEST(BrowsingOptions, RefuseAViewportBesideADevice) {
  EXPECT_THROW(parsed_from({"--device=Pixel 9", "--viewport=800x600"}), CLI::ExcludesError);
}

TEST(BrowsingOptions, PassOnTheDeviceOrTheViewport) {
  for (std::string const option : {"--device=Pixel 9", "--viewport=800x600"}) {
    auto const given = parsed_from({option});
    auto const passed = parsed_from(given.arguments());
    EXPECT_EQ(passed.device, given.device);
    EXPECT_EQ(passed.browser().width, given.browser().width);
    EXPECT_EQ(passed.browser().height, given.browser().height);
  }
}

}  // namespace
}  // namespace reprise
