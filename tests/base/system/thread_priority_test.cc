#include "base/system/thread_priority.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace reprise {
namespace {

using namespace std::chrono_literals;

int policy() {
  return ::sched_getscheduler(0);
}

TEST(ThreadPriority, OrdinaryChangesNothing) {
  std::thread([] {
    auto const taken = ThreadPriority::take(WantedPriority::kOrdinary, 10);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->got(), Priority::kOrdinary);
    EXPECT_EQ(policy(), SCHED_OTHER);
  }).join();
}

TEST(ThreadPriority, TheBestIsWhatTheSystemPermits) {
  std::thread([] {
    auto const taken = ThreadPriority::take(WantedPriority::kBest, 10);
    ASSERT_TRUE(taken);
    EXPECT_EQ(policy(), taken->got() == Priority::kRealtime ? SCHED_FIFO : SCHED_OTHER);
  }).join();
}

/// In a child process, without the right to raise a priority: 0, or the number of what is wrong.
int try_without_rights() {
  rlimit const none{};
  if (::setrlimit(RLIMIT_RTPRIO, &none) != 0 || ::setrlimit(RLIMIT_NICE, &none) != 0) return 1;
  if (::getuid() == 0 && ::setuid(65534) != 0) return 2;
  if (ThreadPriority::take(WantedPriority::kRealtime, 10)) return 3;
  auto const best = ThreadPriority::take(WantedPriority::kBest, 10);
  if (!best || best->got() == Priority::kRealtime) return 4;
  if (favour_process()) return 5;
  return policy() == SCHED_OTHER ? 0 : 6;
}

TEST(ThreadPriority, WithoutRightsRealtimeIsRefusedAndTheBestIsAnOrdinaryPolicy) {
  pid_t const child = ::fork();
  if (child == 0) ::_exit(try_without_rights());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ThreadPriority, ABusyThreadIsLoweredUntilItIsQuieter) {
  std::thread([] {
    auto taken = ThreadPriority::take(WantedPriority::kBest, 10);
    ASSERT_TRUE(taken);
    if (taken->got() != Priority::kRealtime) GTEST_SKIP() << "no right to real-time priority";
    auto now = 1000ms;
    auto used = 0ms;
    auto const pass = [&](std::chrono::milliseconds each) {
      now += 50ms;
      used += each;
      taken->watch(now, used);
    };
    pass(10ms);
    EXPECT_EQ(policy(), SCHED_FIFO);
    pass(40ms);
    EXPECT_EQ(policy(), SCHED_OTHER);
    pass(20ms);  // not yet half of the bound
    EXPECT_EQ(policy(), SCHED_OTHER);
    pass(10ms);
    EXPECT_EQ(policy(), SCHED_FIFO);
    EXPECT_EQ(taken->times_lowered(), 1U);
    EXPECT_EQ(taken->got(), Priority::kRealtime);
  }).join();
}

}  // namespace
}  // namespace reprise
