#include "tools/link/linked_command.h"

#include <gtest/gtest.h>

#include "tools/commands.h"

namespace reprise {
namespace {

TEST(LinkedCommand, FailsWhereAFileWasNotWrittenOrTheLinkMissedItsSettings) {
  EXPECT_EQ(exit_code_behind_link(kExitDone, true, false), kExitDone);
  EXPECT_EQ(exit_code_behind_link(kExitDone, false, false), kExitFailed);
  EXPECT_EQ(exit_code_behind_link(kExitDone, true, true), kExitGate);
  EXPECT_EQ(exit_code_behind_link(kExitDone, false, true), kExitFailed);
}

TEST(LinkedCommand, ReturnsTheExitCodeOfACommandThatFailed) {
  for (bool const written : {false, true}) {
    for (bool const missed : {false, true}) {
      EXPECT_EQ(exit_code_behind_link(7, written, missed), 7);
    }
  }
}

}  // namespace
}  // namespace reprise
