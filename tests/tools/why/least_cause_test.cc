#include <gtest/gtest.h>

#include "analysis/metric.h"
#include "tools/why/why_run.h"

namespace reprise {
namespace {

/// Of a metric whose median is 5,000 in A.
WhyOptions why_options_of(const char* metric) {
  return {.compare = {.metrics = parse_metrics(metric).value()}, .median_a = 5000};
}

TEST(LeastCause, IsOnePercentOrTwoMillisecondsUnlessTheUserSaysOtherwise) {
  auto options = why_options_of("load");
  EXPECT_DOUBLE_EQ(least_cause(options), 50);
  options.median_a = 20;
  EXPECT_DOUBLE_EQ(least_cause(options), 2);
  options.compare.least_of_times = MinimumEffect{.relative = 0.5, .absolute = 3};
  EXPECT_DOUBLE_EQ(least_cause(options), 10);
}

TEST(LeastCause, OfBytesAndCountsIsNoTime) {
  for (auto const* const metric : {"bytes", "requests"}) {
    auto options = why_options_of(metric);
    options.compare.least_of_times = MinimumEffect{.absolute = 200};
    EXPECT_DOUBLE_EQ(least_cause(options), 50) << metric;
    options.compare.least_relative = 0.1;
    EXPECT_DOUBLE_EQ(least_cause(options), 500) << metric;
  }
}

TEST(LeastCause, IsMoreThanZero) {
  auto options = why_options_of("bytes");
  options.median_a = 0;
  EXPECT_GT(least_cause(options), 0);
}

}  // namespace
}  // namespace reprise
