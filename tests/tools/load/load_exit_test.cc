#include "tools/load/load_exit.h"

#include <gtest/gtest.h>

#include "tools/commands.h"

namespace reprise {
namespace {

TEST(LoadExit, OfAPageIsTheReplays) {
  MeasuredLoad load{.end = LoadEnd::kLoaded, .page = PageLoad()};
  EXPECT_EQ(exit_code_of(load), kExitDone);
  EXPECT_FALSE(is_hopeless(load));
  load.end = LoadEnd::kNotLoaded;
  EXPECT_EQ(exit_code_of(load), kExitDone);
  EXPECT_FALSE(is_hopeless(load)) << "the next one may load";
}

TEST(LoadExit, OfAStrictReplayDoesNotEndAMeasurement) {
  MeasuredLoad const load{.end = LoadEnd::kLoaded, .page = PageLoad(), .exit_code = kExitGate};
  EXPECT_EQ(exit_code_of(load), kExitGate);
  EXPECT_FALSE(is_hopeless(load));
}

TEST(LoadExit, OfAReplayThatFailedWithAPageEndsAMeasurement) {
  MeasuredLoad const load{.end = LoadEnd::kLoaded, .page = PageLoad(), .exit_code = kExitArchive};
  EXPECT_EQ(exit_code_of(load), kExitArchive);
  EXPECT_TRUE(is_hopeless(load));
}

TEST(LoadExit, WithoutAPageIsAFailure) {
  for (int const code : {int{kExitDone}, int{kExitFailed}}) {
    MeasuredLoad const load{.end = LoadEnd::kNotServed, .exit_code = code};
    EXPECT_EQ(exit_code_of(load), kExitFailed);
    EXPECT_TRUE(is_hopeless(load));
  }
  MeasuredLoad const strict{.end = LoadEnd::kNotServed, .exit_code = kExitGate};
  EXPECT_EQ(exit_code_of(strict), kExitGate);
  EXPECT_TRUE(is_hopeless(strict)) << "a page is missing, too";
  MeasuredLoad const not_started{.end = LoadEnd::kNotStarted};
  EXPECT_EQ(exit_code_of(not_started), kExitFailed);
  EXPECT_TRUE(is_hopeless(not_started));
}

}  // namespace
}  // namespace reprise
