#include "tools/process/interrupted_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "tools/process/interruption.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;

/// A shell that runs this script; $0 is the number of this process.
std::unique_ptr<GuardedProcess> shell(const std::string& script) {
  auto process = GuardedProcess::start({.program = "/bin/sh",
                                        .arguments = {"-c", script, std::to_string(::getpid())},
                                        .environment = environment_with({})});
  EXPECT_TRUE(process.has_value());
  return process ? std::move(*process) : nullptr;
}

TEST(WaitOrInterrupt, GivesTheStatusOfAProgramThatEndsByItself) {
  Interruption const interruption;
  auto const process = shell("exit 3");
  ASSERT_NE(process, nullptr);
  auto const status = wait_or_interrupt(*process, std::chrono::steady_clock::now() + 60s);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WEXITSTATUS(*status), 3);
}

TEST(WaitOrInterrupt, LetsTheProgramEndInOrderWhenThisProcessIsAskedToEnd) {
  Interruption const interruption;
  auto const process = shell("trap 'exit 7' TERM; kill -TERM $0; sleep 60 & wait");
  ASSERT_NE(process, nullptr);
  auto const status = wait_or_interrupt(*process, std::chrono::steady_clock::now() + 60s);
  EXPECT_TRUE(Interruption::was_asked());
  ASSERT_TRUE(status.has_value());
  ASSERT_TRUE(WIFEXITED(*status)) << "it was killed";
  EXPECT_EQ(WEXITSTATUS(*status), 7);
}

TEST(WaitOrInterrupt, DoesNotWaitBeyondItsDeadline) {
  Interruption const interruption;
  auto const process = shell("sleep 60");
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(wait_or_interrupt(*process, std::chrono::steady_clock::now()), std::nullopt);
}

}  // namespace
}  // namespace reprise
