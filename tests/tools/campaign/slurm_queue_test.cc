#include "tools/campaign/slurm_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise {
namespace {

TEST(JobNumber, IsTheLineOfSbatchThatIsNoWarning) {
  EXPECT_EQ(job_number("17\n"), "17");
  EXPECT_EQ(job_number("17;cluster\n"), "17");
  EXPECT_EQ(job_number("sbatch: warning: 2 of 3 nodes are down\n17\n"), "17");
  EXPECT_EQ(job_number("17\nsbatch: warning: it may wait\n"), "17");
  EXPECT_EQ(job_number("sbatch: warning: no number\n"), "");
}

TEST(SlurmQueue, NamesTheListAndTheLineOfEachTask) {
  auto const name = array_name("reprise-a-b", 3, 1000, false);
  auto const tasks = queued_tasks(
      "squeue: warning: slow\n" + name + "|7|RUNNING|None|12_7\nother-3.0|1|RUNNING|None|9_1\n" +
          "reprise-a-b-check|N/A|RUNNING|None|9\n" + name + "|N/A|PENDING|Resources|13\n",
      "reprise-a-b");
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].round, 3U);
  EXPECT_EQ(tasks[0].line, 1007U);
  EXPECT_EQ(tasks[0].job(), "12");
  EXPECT_FALSE(tasks[0].is_held());
}

TEST(SlurmQueue, KnowsTasksThatNeverStartByThemselves) {
  for (const char* const reason :
       {"JobHeldUser", "JobHeldAdmin", "launch failed requeued held", "job_requeued_in_held_state",
        "JobHoldMaxRequeue", "BadConstraints", "DependencyNeverSatisfied"}) {
    EXPECT_TRUE((QueuedTask{.id = "7_1", .state = "PENDING", .reason = reason}.is_held()))
        << reason;
  }
  EXPECT_TRUE((QueuedTask{.id = "7_1", .state = "SPECIAL_EXIT", .reason = "None"}.is_held()));
  for (const char* const reason : {"Priority", "Resources", "BeginTime", "ReqNodeNotAvail"}) {
    EXPECT_FALSE((QueuedTask{.id = "7_1", .state = "PENDING", .reason = reason}.is_held()))
        << reason;
  }
}

TEST(SlurmQueue, LeavesTheTimeOfTheUserToTasks) {
  for (bool const has_begin : {false, true}) {
    auto const row = array_name("jobs", 1, 0, has_begin) + "|4|PENDING|BeginTime|7_4\n";
    auto const tasks = queued_tasks(row, "jobs");
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks[0].line, 4U);
    EXPECT_EQ(tasks[0].waits_after_requeue(), !has_begin);
  }
}

}  // namespace
}  // namespace reprise
