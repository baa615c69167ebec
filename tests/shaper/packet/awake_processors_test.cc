#include "shaper/packet/awake_processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <filesystem>
#include <string>

namespace reprise {
namespace {

using namespace std::chrono_literals;

/// Threads of this process that run when nothing else wants to.
int idle_threads() {
  int count = 0;
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (::sched_getscheduler(std::stoi(task.path().filename())) == SCHED_IDLE) ++count;
  }
  return count;
}

TEST(AwakeProcessors, HaveAThreadEachThatGivesWayToAnyOther) {
  cpu_set_t usable;
  ASSERT_EQ(::sched_getaffinity(0, sizeof usable, &usable), 0);
  {
    AwakeProcessors const awake;
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    while (idle_threads() < CPU_COUNT(&usable) && std::chrono::steady_clock::now() < deadline) {
      ::sched_yield();
    }
    EXPECT_EQ(idle_threads(), CPU_COUNT(&usable));
  }
  EXPECT_EQ(idle_threads(), 0);
}

}  // namespace
}  // namespace reprise
