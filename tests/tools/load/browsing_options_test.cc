#include "tools/load/browsing_options.h"

#include <gtest/gtest.h>

#include "pageload/run/load_run.h"

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

}  // namespace
}  // namespace reprise
