#include "tools/predict/prediction_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Of eight loads that are 100 ms apart, each 50 ms faster.
PredictedTimes times_of_eight(std::vector<double> quantiles) {
  SampledQuantiles loads;
  for (int i = 1; i <= 8; ++i) loads.add(loads.add_row(i * 100'000.), i * 100'000. - 50'000);
  return std::move(loads).finish(quantiles, 1);
}

TEST(PredictionReport, SaysASavingWithItsIntervalFromTheLesserToTheGreaterAmount) {
  EXPECT_EQ(saving_text({.saving_us = 100'000, .saving_low_us = 90'000, .saving_high_us = 120'000}),
            "saves 100.0 ms (90.0 to 120.0)");
  EXPECT_EQ(
      saving_text({.saving_us = -100'000, .saving_low_us = -120'000, .saving_high_us = -90'000}),
      "costs 100.0 ms (90.0 to 120.0)");
  EXPECT_EQ(saving_text({.saving_us = 40, .saving_low_us = 0, .saving_high_us = 60}),
            "changes nothing");
}

TEST(PredictionReport, HasIntervalsOfEnoughLoadsAlone) {
  auto const times = times_of_eight({.5, .9});
  auto const text = times_text(times, {}, "load");
  EXPECT_THAT(text, HasSubstr("  median  450.0 ms -> 400.0 ms ("));
  EXPECT_THAT(text, HasSubstr("), saves 50.0 ms (50.0 to 50.0)\n"));
  EXPECT_THAT(text, HasSubstr("  p90     800.0 ms -> 750.0 ms, saves 50.0 ms; too few loads for a "
                              "95 % interval, which needs 29\n"));
  auto const json = times_json(times, {});
  auto const& quantiles = json.at("quantiles").as_array();
  for (auto const* const name : {"low_ms", "high_ms", "saving_low_ms", "saving_high_ms"}) {
    EXPECT_TRUE(quantiles.at(0).at(name).is_double()) << name;
    EXPECT_TRUE(quantiles.at(1).at(name).is_null()) << name;
  }
  EXPECT_EQ(quantiles.at(1).at("saving_ms").as_double(), 50);
}

TEST(PredictionReport, NamesQuantilesThatAreNoWholePercent) {
  auto const text = times_text(times_of_eight({.29, .995}), {}, "request");
  EXPECT_THAT(text, HasSubstr("  p29     "));
  EXPECT_THAT(text, HasSubstr("  p99.5   "));
  EXPECT_THAT(text, HasSubstr("too few requests for"));
}

TEST(PredictionReport, SaysWhichDistanceIsWhich) {
  auto const times = times_of_eight({.5});
  auto const text = times_text(times, times.predicted_us, "load");
  EXPECT_THAT(text, HasSubstr("0 % of the saving; distance D 0.00, median 0.00, mean 0.00\n"));
  EXPECT_THAT(text, HasSubstr("of the same loads        distance D 0."));
  EXPECT_THAT(text, Not(HasSubstr("distance 0")));
}

}  // namespace
}  // namespace reprise
