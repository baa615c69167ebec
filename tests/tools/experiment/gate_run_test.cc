#include "tools/experiment/gate_run.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(GateRunText, AdvisesToSkipTheNoiseCheckOnlyWhereItRan) {
  EXPECT_THAT(no_look_text(true, std::nullopt), EndsWith("; or use --skip-noise-check"));
  EXPECT_THAT(no_look_text(false, std::nullopt), EndsWith("Use a longer --budget"));
  auto const known = no_look_text(false, std::chrono::seconds(90));
  EXPECT_THAT(known, HasSubstr("take about 90 s"));
  EXPECT_THAT(known, Not(HasSubstr("--skip-noise-check")));
}

TEST(GateRunText, NamesWhatDisturbedTheRunsItsLargestFiguresAndTheWayOut) {
  GateResult result{.end = GateEnd::kDisturbed};
  auto const* const quota = "a processor quota stopped the load for N ms";
  auto const* const others = "other programs used N % of the processors";
  result.skipped = {{quota, 5}, {others, 1}};
  result.largest = {{quota, "a processor quota stopped the load for 1204 ms"},
                    {others, "other programs used 84 % of the processors"}};
  auto const text = disturbed_text(result, 8);
  EXPECT_THAT(text, HasSubstr("undecided, since the machine disturbs the loads: 6 of 8 runs did "
                              "not count. 5 runs: a processor quota stopped the load for 1204 ms "
                              "(the largest figure); 1 run: other programs used 84 % of the "
                              "processors. Give the container"));
  EXPECT_THAT(text, HasSubstr("'quota'"));
  EXPECT_THAT(text, HasSubstr("'priority'"));
  EXPECT_THAT(text, Not(HasSubstr("Wait until")));
}

}  // namespace
}  // namespace reprise
