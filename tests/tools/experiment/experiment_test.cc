#include "tools/experiment/experiment.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace reprise {
namespace {

constexpr auto kThrottled = "a processor quota stopped the load for 40 ms";

/// A and B, whose loads the tests make.
Experiment a_and_b() {
  std::vector<ExperimentSide> sides;
  for (int i = 0; i < 2; ++i) {
    auto side = ExperimentSide::of_words({"a.reprise", "http://a.test/"});
    EXPECT_TRUE(side);
    sides.push_back(std::move(*side));
  }
  return {std::move(sides), 0};
}

/// A load of one second, which a processor quota stopped for a while.
void add_load_to(Experiment& experiment, std::size_t side, double throttled_ms = 0,
                 unsigned run = 1) {
  LoadResult::Load load{.run = run};
  load.page.url = "http://a.test/";
  load.page.load_event_ms = 1000;
  load.page.machine = MachineActivity{.span_ms = 1000, .processors = 2, .busy_ms = 900};
  load.page.machine->own_ms = 850;
  load.page.machine->throttled_ms = throttled_ms;
  experiment.side(side).result().loads.push_back(std::move(load));
}

/// Whether each load of a side, from that run on, counts whatever is loaded later.
std::vector<bool> counting(const Experiment& experiment, std::size_t side,
                           std::size_t first_run = 0) {
  std::vector<bool> all;
  auto const measured = experiment.measured(side, first_run);
  for (const LoadRow& load : measured.loads) all.push_back(load.counts);
  return all;
}

TEST(Experiment, SkipsADisturbedRunOnAllSides) {
  auto experiment = a_and_b();
  add_load_to(experiment, 0);
  add_load_to(experiment, 1, 40);
  EXPECT_EQ(experiment.count_or_skip(1, counted_loads({})), kThrottled);
  EXPECT_EQ(experiment.side(0).result().loads[0].skipped, kThrottled);
  add_load_to(experiment, 0);
  add_load_to(experiment, 1, 5);
  EXPECT_EQ(experiment.count_or_skip(1, counted_loads({})), "");
  EXPECT_EQ(counting(experiment, 0), (std::vector<bool>{false, true}));
  EXPECT_EQ(counting(experiment, 1), (std::vector<bool>{false, true}));
}

TEST(Experiment, SkipsTheLastLoadOfASideAlone) {
  auto experiment = a_and_b();
  add_load_to(experiment, 0);
  EXPECT_EQ(experiment.count_or_skip_last(0, counted_loads({})), "");
  add_load_to(experiment, 1, 40);
  EXPECT_EQ(experiment.count_or_skip_last(1, counted_loads({})), kThrottled);
  EXPECT_EQ(counting(experiment, 0), (std::vector<bool>{true}));
  EXPECT_EQ(counting(experiment, 1), (std::vector<bool>{false}));
}

TEST(Experiment, ABurstOfStealIsNotUsualBecauseOfItself) {
  auto const add = [](Experiment& to, std::size_t side, double steal_ms, unsigned run) {
    add_load_to(to, side, 0, run);
    auto& load = to.side(side).result().loads.back();
    load.page.machine->steal_ms = steal_ms;
    load.warm_up = run == 0;
  };
  auto quiet = a_and_b();
  add(quiet, 0, 0, 0);
  add(quiet, 1, 0, 0);
  add(quiet, 0, 0, 1);
  add(quiet, 1, 50, 1);
  EXPECT_EQ(quiet.count_or_skip(1, counted_loads({})),
            "the host took 50 ms of processor time (steal)");
  // On a host that always takes some, the loads that warm up tell.
  auto shared = a_and_b();
  add(shared, 0, 40, 0);
  add(shared, 1, 50, 0);
  add(shared, 0, 60, 1);
  add(shared, 1, 40, 1);
  EXPECT_EQ(shared.count_or_skip(1, counted_loads({})), "");
}

TEST(Experiment, IsMeasuredFromARunOn) {
  auto experiment = a_and_b();
  for (auto const& [run, throttled_ms] :
       {std::pair{1U, 0.0}, std::pair{2U, 40.0}, std::pair{2U, 0.0}, std::pair{3U, 0.0}}) {
    add_load_to(experiment, 0, throttled_ms, run);
    EXPECT_EQ(experiment.count_or_skip_last(0, counted_loads({})),
              throttled_ms > 0 ? kThrottled : "");
  }
  EXPECT_EQ(counting(experiment, 0), (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(counting(experiment, 0, 2), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(counting(experiment, 0, 4), std::vector<bool>{});
}

TEST(Experiment, EndsWithItsBudgetAtTheLatest) {
  using namespace std::chrono_literals;
  EXPECT_EQ(most_time_left(7min, 60s), 60s);
  EXPECT_EQ(most_time_left(40s, 60s), 40s);
  EXPECT_EQ(most_time_left(40s, -3s), 0s);
}

}  // namespace
}  // namespace reprise
