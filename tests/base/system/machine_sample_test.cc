#include "base/system/machine_sample.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace reprise {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A /proc and a /sys as far as a sample reads them.
class FakeKernel : public testing::Test {
 protected:
  FakeKernel() {
    std::string name = (fs::temp_directory_path() / "reprise-proc-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    write("proc/stat", "cpu  100 20 30 4000 50 6 7 80 0 0\ncpu0 1 1\ncpu1 1 1\nintr 5\n");
    write("proc/pressure/cpu", "some avg10=1.00 total=5000\nfull avg10=0.00 total=1\n");
    write("proc/self/cgroup", "0::/user/load\n");
    process(7, 1, 'S', 10);
    process(8, 7, 'S', 20);
    process(9, 8, 'R', 30);
    process(10, 1, 'R', 1000);
    write("proc/9/task/9/schedstat", "500 2000000 3\n");
    write("proc/9/task/11/schedstat", "500 1000000 3\n");
    write("proc/10/task/10/schedstat", "500 9000000 3\n");
  }
  ~FakeKernel() override { fs::remove_all(folder_); }

  void write(const fs::path& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  /// `ticks` in user mode; the name has what confuses a reader.
  void process(int number, int parent, char state, int ticks) {
    write("proc/" + std::to_string(number) + "/stat",
          std::to_string(number) + " (a) b (c) " + state + " " + std::to_string(parent) +
              " 1 1 0 -1 0 100 0 3 1 " + std::to_string(ticks) + " 0 5 0 20 0 1 0\n");
  }
  MachineSample sample() const { return MachineSample::take(7, folder_ / "proc", folder_ / "sys"); }

  fs::path folder_;
};

TEST_F(FakeKernel, CountsAllProcessorsAndTheHost) {
  auto const taken = sample();
  EXPECT_EQ(taken.processors, 2U);
  EXPECT_EQ(taken.busy, 1630ms);  // a tick is 10 ms; neither idle nor waiting for a disk
  EXPECT_EQ(taken.steal, 800ms);
  EXPECT_EQ(taken.cpu_pressure, 5ms);
  EXPECT_EQ(taken.io_pressure, std::nullopt);
}

TEST_F(FakeKernel, CountsTheProcessesThatDescendFromOne) {
  auto const taken = sample();
  EXPECT_EQ(taken.own_busy, (10 + 20 + 30 + 3 * 5) * 10ms);
  EXPECT_EQ(taken.own_waiting, 3ms);
  EXPECT_EQ(taken.own_major_faults, 12U);
  EXPECT_FALSE(taken.own_stopped);
  process(9, 8, 'T', 30);
  EXPECT_TRUE(sample().own_stopped);
}

TEST_F(FakeKernel, AddsTheQuotasOfAllGroupsAbove) {
  EXPECT_EQ(sample().throttled, std::nullopt);
  write("sys/fs/cgroup/user/load/cpu.stat", "usage_usec 9\nthrottled_usec 3000\n");
  write("sys/fs/cgroup/user/cpu.stat", "throttled_usec 2000\n");
  EXPECT_EQ(sample().throttled, 5ms);
  write("proc/self/cgroup", "4:cpu,cpuacct:/job\n3:memory:/other\n");
  write("sys/fs/cgroup/cpu/job/cpu.stat", "nr_throttled 2\nthrottled_time 7000000\n");
  EXPECT_EQ(sample().throttled, 7ms);
}

TEST_F(FakeKernel, CountsOnlyTheProcessorsThatTheLoadMayUse) {
  write("proc/stat",
        "cpu  400 0 0 0 0 0 0 90 0 0\ncpu0 100 0 0 0 0 0 0 10 0 0\n"
        "cpu1 100 0 0 0 0 0 0 20 0 0\ncpu2 150 0 0 0 0 0 0 30 0 0\n"
        "cpu3 50 0 0 0 0 0 0 30 0 0\n");
  write("proc/self/status", "Name:\tx\nCpus_allowed:\td\nCpus_allowed_list:\t0,2-3\n");
  auto const taken = sample();
  EXPECT_EQ(taken.processors, 3U);
  EXPECT_EQ(taken.busy, 3s);
  EXPECT_EQ(taken.steal, 700ms);
  write("proc/self/status", "Cpus_allowed_list:\t0-7\n");
  EXPECT_EQ(sample().processors, 4U);
  EXPECT_EQ(sample().busy, 4s);
}

TEST_F(FakeKernel, FindsTheSmallestQuotaAndWhatItsGroupUsed) {
  EXPECT_EQ(sample().quota, std::nullopt);
  write("sys/fs/cgroup/user/load/cpu.max", "max 100000\n");
  EXPECT_EQ(sample().quota, std::nullopt);
  write("sys/fs/cgroup/user/load/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/user/cpu.stat", "usage_usec 9000\nthrottled_usec 0\n");
  EXPECT_EQ(sample().quota, 1.5);
  EXPECT_EQ(sample().quota_busy, 9ms);
  write("proc/self/cgroup", "4:cpu,cpuacct:/job\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(sample().quota, std::nullopt);
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(sample().quota, 0.5);
  EXPECT_EQ(sample().quota_busy, std::nullopt);
  write("sys/fs/cgroup/cpu/job/cpuacct.usage", "7000000\n");
  EXPECT_EQ(sample().quota_busy, 7ms);
}

TEST_F(FakeKernel, NiceValuesCountInsideTheGroupThatIsWeighed) {
  EXPECT_EQ(sample().group_busy, std::nullopt);
  write("sys/fs/cgroup/user/cpu.weight", "100\n");
  write("sys/fs/cgroup/user/cpu.stat", "usage_usec 9000\n");
  write("sys/fs/cgroup/user/load/cpu.stat", "usage_usec 1000\n");
  EXPECT_EQ(sample().group_busy, 9ms);
  // The root of version 1, and what looks like it in a container.
  write("proc/self/cgroup", "1:cpu:/\n");
  write("sys/fs/cgroup/cpu/cpu.shares", "1024\n");
  write("sys/fs/cgroup/cpu/cpuacct.usage", "7000000\n");
  EXPECT_EQ(sample().group_busy, 7ms);
  write("sys/fs/cgroup/cpu/cgroup.sane_behavior", "0\n");
  EXPECT_EQ(sample().group_busy, std::nullopt);
}

TEST_F(FakeKernel, AGroupThatCanRunOnOtherProcessorsIsNotToldApart) {
  write("proc/stat", "cpu  200 0 0 0 0 0 0\ncpu0 100 0 0 0 0 0 0\ncpu1 100 0 0 0 0 0 0\n");
  write("sys/fs/cgroup/user/cpu.weight", "100\n");
  write("sys/fs/cgroup/user/cpu.stat", "usage_usec 2000000\n");
  EXPECT_EQ(sample().group_busy, 2s);
  // After taskset(1): a build of the group runs on the other processor, and its time is the
  // group's.
  write("proc/self/status", "Cpus_allowed_list:\t1\n");
  EXPECT_EQ(sample().busy, 1s);
  EXPECT_EQ(sample().group_busy, std::nullopt);
  EXPECT_GE(sample().own_nice, 0);
  write("sys/fs/cgroup/user/cpuset.cpus.effective", "0-1\n");
  EXPECT_EQ(sample().group_busy, std::nullopt);
  // A container with processors of its own.
  write("sys/fs/cgroup/user/cpuset.cpus.effective", "1\n");
  EXPECT_EQ(sample().group_busy, 2s);
}

TEST_F(FakeKernel, Version1TellsTheProcessorsOfAGroupElsewhere) {
  write("proc/stat", "cpu  200 0 0 0 0 0 0\ncpu0 100 0 0 0 0 0 0\ncpu1 100 0 0 0 0 0 0\n");
  write("proc/self/status", "Cpus_allowed_list:\t1\n");
  write("proc/self/cgroup", "2:cpuset:/job/load\n1:cpu,cpuacct:/job\n");
  write("sys/fs/cgroup/cpu/job/cpu.shares", "1024\n");
  write("sys/fs/cgroup/cpu/job/cpuacct.usage", "7000000\n");
  EXPECT_EQ(sample().group_busy, std::nullopt);
  write("sys/fs/cgroup/cpuset/job/cpuset.effective_cpus", "1\n");
  EXPECT_EQ(sample().group_busy, 7ms);
  write("sys/fs/cgroup/cpuset/job/load/cpuset.effective_cpus", "0-1\n");
  EXPECT_EQ(sample().group_busy, std::nullopt);
}

TEST_F(FakeKernel, ANiceValueCountsAsFarAsItsSessionDoes) {
  write("proc/self/autogroup", "/autogroup-24764 nice 19\n");
  EXPECT_EQ(sample().own_nice, 19);
  write("proc/self/autogroup", "");
  EXPECT_EQ(sample().own_nice, ::getpriority(PRIO_PROCESS, 0));
}

TEST_F(FakeKernel, TellsTheTimeOfOneProcessWithoutItsChildren) {
  EXPECT_EQ(processor_time_of(8, folder_ / "proc"), 200ms);
  EXPECT_EQ(processor_time_of(99, folder_ / "proc"), 0ms);
}

TEST_F(FakeKernel, IsEmptyWhereTheKernelTellsNothing) {
  auto const taken = MachineSample::take(7, folder_ / "none", folder_ / "none");
  EXPECT_EQ(taken.busy, 0ms);
  EXPECT_EQ(taken.own_busy, 0ms);
  EXPECT_EQ(taken.steal, std::nullopt);
  write("proc/stat", "cpu  1 2\n");
  write("proc/7/stat", "7 (cut");
  EXPECT_EQ(sample().busy, 0ms);
}

TEST_F(FakeKernel, TellsHowLongAnIdleProcessorWatchesForWork) {
  EXPECT_EQ(halt_poll_time(folder_ / "sys"), std::nullopt);
  write("sys/module/haltpoll/parameters/guest_halt_poll_ns", "200000\n");
  write("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
  EXPECT_EQ(halt_poll_time(folder_ / "sys"), std::nullopt);
  write("sys/devices/system/cpu/cpuidle/current_driver", "haltpoll\n");
  EXPECT_EQ(halt_poll_time(folder_ / "sys"), 200us);
}

TEST(MachineActivity, IsWhatGrewBetweenTwoSamples) {
  MachineSample before{.monotonic = 10s, .boot = 20s, .wall = 1000s, .busy = 5s, .steal = 1s};
  auto after = before;
  after.monotonic += 2s;
  after.boot += 2s;
  after.wall += 2s;
  after.processors = 2;
  after.busy += 3s;
  after.own_busy += 2s;
  after.steal = 1020ms;
  auto const activity = activity_between(before, after);
  EXPECT_EQ(activity.span_ms, 2000);
  EXPECT_EQ(activity.steal_ms, 20);
  EXPECT_EQ(activity.throttled_ms, std::nullopt);
  EXPECT_EQ(activity.busy_ms, 3000);
  EXPECT_EQ(activity.own_ms, 2000);
  EXPECT_EQ(activity.began_ms, 10'000);
  EXPECT_EQ(activity.suspended_ms, 0);
  EXPECT_EQ(activity.clock_step_ms, 0);
}

TEST(MachineActivity, NamesSleepAndASetClock) {
  MachineSample const before{.monotonic = 10s, .boot = 20s, .wall = 1000s};
  auto after = before;
  after.monotonic += 1s;
  after.boot += 61s;  // it slept for a minute
  after.wall += 61s;
  auto const slept = activity_between(before, after);
  EXPECT_EQ(slept.suspended_ms, 60'000);
  EXPECT_EQ(slept.clock_step_ms, 0);
  after.wall -= 3600s;
  EXPECT_EQ(activity_between(before, after).clock_step_ms, -3'600'000);
}

TEST(MachineActivity, IsNeverNegative) {
  MachineSample const before{.busy = 5s, .steal = 2s, .own_busy = 9s, .own_major_faults = 7};
  auto const activity = activity_between(before, MachineSample{.monotonic = 1s, .steal = 0s});
  EXPECT_EQ(activity.busy_ms, 0);
  EXPECT_EQ(activity.steal_ms, 0);
  EXPECT_EQ(activity.own_major_faults, 0);
  EXPECT_EQ(activity.own_ms, 0);
}

TEST(Stopped, IsSeenOfADescendant) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  pid_t const child = ::fork();
  if (child == 0) {
    pid_t const grandchild = ::fork();
    if (grandchild == 0) {
      for (;;) ::pause();
    }
    [[maybe_unused]] auto const told = ::write(ready[1], &grandchild, sizeof grandchild);
    for (;;) ::pause();
  }
  pid_t grandchild = 0;
  ASSERT_EQ(::read(ready[0], &grandchild, sizeof grandchild), sizeof grandchild);
  EXPECT_FALSE(is_descendant_stopped());
  ::kill(grandchild, SIGSTOP);
  while (!is_descendant_stopped()) ::sched_yield();
  ::kill(grandchild, SIGKILL);
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(MachineSample, AddsUpWhatDescendantsRan) {
  auto const before = descendants_busy();
  auto const child = ::fork();
  if (child == 0) {
    for (;;) {
    }
  }
  while (descendants_busy() - before < std::chrono::milliseconds(50)) ::sched_yield();
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace reprise
