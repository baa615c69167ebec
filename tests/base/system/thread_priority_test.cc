#include "base/system/thread_priority.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <thread>

namespace reprise {
namespace {

using namespace std::chrono_literals;

/// As the kernel's struct sched_attr (sched_getattr(2)).
struct SliceAttributes {
  std::uint32_t size = sizeof(SliceAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

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

constexpr int kNotPermitted = 77;

/// The same, as far as a limit permits; kNotPermitted where nobody may raise the limit.
int try_with_a_limit() {
  rlimit const ten{.rlim_cur = 30, .rlim_max = 30};
  if (::setsid() < 0) return 1;  // the weight of the tests' session stays
  if (::setrlimit(RLIMIT_NICE, &ten) != 0) return errno == EPERM ? kNotPermitted : 2;
  if (::setuid(65534) != 0) return 5;
  ::prctl(PR_SET_DUMPABLE, 1);  // or /proc/self is root's
  if (favour_process() != -10) return 3;
  return ::getpriority(PRIO_PROCESS, 0) == -10 ? 0 : 4;
}

TEST(ThreadPriority, AProcessTakesTheNiceValueThatItsLimitPermits) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can raise the limit";
  pid_t const child = ::fork();
  if (child == 0) ::_exit(try_with_a_limit());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotPermitted) GTEST_SKIP() << "CAP_SYS_RESOURCE is missing";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ThreadPriority, IsGivenBack) {
  std::thread([] {
    auto const slice = [] {
      SliceAttributes attributes;
      ::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0);
      return attributes.runtime_ns;
    };
    auto const policy_before = policy();
    auto const nice_before = ::getpriority(PRIO_PROCESS, 0);
    auto const slice_before = slice();
    auto taken = ThreadPriority::take(WantedPriority::kBest, 10);
    ASSERT_TRUE(taken);
    taken->give_back();
    EXPECT_EQ(policy(), policy_before);
    EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), nice_before);
    EXPECT_EQ(slice(), slice_before);
    EXPECT_EQ(taken->got(), Priority::kOrdinary);
    taken->watch(1s, 1s);  // for good
    taken->watch(2s, 1s);
    EXPECT_EQ(policy(), policy_before);
  }).join();
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
