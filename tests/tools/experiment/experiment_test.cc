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
void add_load_to(Experiment& experiment, std::size_t side, double throttled_ms = 0) {
  LoadResult::Load load{.run = 1};
  load.page.url = "http://a.test/";
  load.page.load_event_ms = 1000;
  load.page.machine = MachineActivity{.span_ms = 1000, .processors = 2, .busy_ms = 900};
  load.page.machine->own_ms = 850;
  load.page.machine->throttled_ms = throttled_ms;
  experiment.side(side).result().loads.push_back(std::move(load));
}

/// Whether each load of a side counts whatever is loaded later.
std::vector<bool> counting(const Experiment& experiment, std::size_t side) {
  std::vector<bool> all;
  for (const LoadRow& load : experiment.measured(side).loads) all.push_back(load.counts);
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

}  // namespace
}  // namespace reprise
