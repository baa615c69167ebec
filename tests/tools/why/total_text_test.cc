#include <gtest/gtest.h>

#include "analysis/metric.h"
#include "tools/why/why_text.h"

namespace reprise {
namespace {

WhyOptions options_of_a_gate(std::size_t loads) {
  WhyOptions options;
  options.compare.metrics = parse_metrics("load").value();
  options.gate_shift = 59;
  options.gate_loads = loads;
  return options;
}

TEST(TotalText, SaysWhatBCosts) {
  EXPECT_EQ(total_text(options_of_a_gate(5), {.estimate = 60, .low = 50, .high = 70}, 48),
            "B is slower than A: load event +60.0 ms (+50.0 ms to +70.0 ms), by 48 loads");
  EXPECT_EQ(total_text(options_of_a_gate(5), {.estimate = -60, .low = -70, .high = -50}, 48),
            "B is faster than A: load event -60.0 ms (-70.0 ms to -50.0 ms), by 48 loads");
}

TEST(TotalText, SaysThatTheLoadsDoNotShowWhatTheGateFound) {
  EstimatedEffect const hardly{.estimate = 27.5, .low = -16.7, .high = 71.8};
  EXPECT_EQ(total_text(options_of_a_gate(5), hardly, 48),
            "The gate found B different (+59.0 ms by 5 loads a side); the later loads do not show "
            "it: load event +27.5 ms (-16.7 ms to +71.8 ms), by 48 loads");
  EXPECT_EQ(total_text(options_of_a_gate(0), hardly, 48),
            "The gate found B different; the later loads do not show it: load event +27.5 ms "
            "(-16.7 ms to +71.8 ms), by 48 loads");
}

}  // namespace
}  // namespace reprise
