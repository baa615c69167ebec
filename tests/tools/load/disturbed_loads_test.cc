#include "tools/load/disturbed_loads.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

constexpr auto kSlept = "the machine slept for 0.3 s";

/// A load of one second, in which the machine slept, or the host took time.
LoadResult::Load load_of(double slept_ms, double steal_ms = 0) {
  LoadResult::Load load;
  load.page.load_event_ms = 1000;
  load.page.machine = MachineActivity{.span_ms = 1000, .processors = 2, .busy_ms = 900};
  load.page.machine->own_ms = 850;
  load.page.machine->suspended_ms = slept_ms;
  load.page.machine->steal_ms = steal_ms;
  return load;
}

TEST(DisturbedLoads, AreNamedOneByOne) {
  LoadResult result;
  DisturbedLoads judge;
  for (double const slept_ms : {0.0, 5.0, 300.0}) {
    result.loads.push_back(load_of(slept_ms));
    judge.judge_last(result);
  }
  result.loads.push_back(load_of(300));
  result.loads.back().warm_up = true;
  judge.judge_last(result);
  EXPECT_EQ(result.loads[0].disturbed, "");
  EXPECT_EQ(result.loads[1].disturbed, "") << "less than 1 % of the load event";
  EXPECT_EQ(result.loads[2].disturbed, kSlept);
  EXPECT_EQ(result.loads[3].disturbed, "");
  EXPECT_EQ(disturbed_loads_text(result),
            "1 of 3 loads was disturbed and does not count in medians and CV (the machine slept "
            "for 0.3 s)\n");
}

TEST(DisturbedLoads, AreJudgedByWhatTheHostTakesFromAll) {
  LoadResult result;
  for (int i = 0; i < 10; ++i) result.loads.push_back(load_of(0, 30));
  result.loads.push_back(load_of(0, 300));
  judge_all(result);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(result.loads[i].disturbed, "") << i;
  EXPECT_EQ(result.loads.back().disturbed, "the host took 300 ms of processor time (steal)");
}

TEST(DisturbedLoads, HaveNoUsualStealWhenThereIsOne) {
  LoadResult result;
  result.loads = {load_of(0, 60)};
  DisturbedLoads().judge_last(result);
  judge_all(result);
  EXPECT_EQ(result.loads[0].disturbed, "the host took 60 ms of processor time (steal)");
}

TEST(DisturbedLoads, AreNotThoseThatFailed) {
  LoadResult result;
  result.loads = {load_of(300), load_of(300), load_of(0)};
  result.loads[0].page.outcome = LoadOutcome::kTimedOut;
  judge_all(result);
  EXPECT_EQ(disturbed_loads_text(result),
            "1 of 3 loads was disturbed and does not count in medians and CV (the machine slept "
            "for 0.3 s)\n");
  result.loads[1].disturbed.clear();
  EXPECT_EQ(disturbed_loads_text(result), "");
}

TEST(DisturbedLoads, AreNoneOfAQuietMachine) {
  LoadResult result;
  result.loads = {load_of(0), load_of(0)};
  judge_all(result);
  EXPECT_EQ(disturbed_loads_text(result), "");
}

}  // namespace
}  // namespace reprise
