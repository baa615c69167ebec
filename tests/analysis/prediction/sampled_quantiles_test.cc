#include "analysis/prediction/sampled_quantiles.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace reprise {
namespace {

TEST(QuantileOf, IsTheSmallestValueThatEnoughDoNotExceed) {
  EXPECT_EQ(quantile_of({3, 1, 2}, .5), 2);
  EXPECT_EQ(quantile_of({4, 3, 1, 2}, .74), 3);
  EXPECT_EQ(quantile_of({4, 3, 1, 2}, .76), 4);
  EXPECT_EQ(quantile_of({4}, .01), 4);
}

TEST(QuantileOf, IsMidwayToTheNextValueIfJustEnoughDoNotExceedIt) {
  EXPECT_EQ(quantile_of({1400, 1000}, .5), 1200);
  EXPECT_EQ(quantile_of({4, 3, 1, 2}, .5), 2.5);
  EXPECT_EQ(quantile_of({4, 3, 1, 2}, .75), 3.5);
  EXPECT_EQ(quantile_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, .9), 9.5);
  EXPECT_EQ(quantile_of({4, 3, 1, 2}, 1), 4) << "there is no next one";
}

TEST(RowsForInterval, AreThoseOfTheWidestIntervalBetweenOrderStatistics) {
  EXPECT_EQ(rows_for_interval(.5), 6) << "1 - 2 / 2^6; of five, 93.75 %";
  EXPECT_EQ(rows_for_interval(.75), 11);
  EXPECT_EQ(rows_for_interval(.25), 11);
  EXPECT_EQ(rows_for_interval(.9), 29) << "of eight, all are below it in 43 % of cases";
  EXPECT_EQ(rows_for_interval(.95), 59);
  EXPECT_EQ(rows_for_interval(1e-300), 1'000'000'000) << "more than there are";
}

TEST(SampledQuantiles, HaveNoIntervalOfTooFewRowsHoweverManySamplesAreDrawn) {
  for (std::size_t const rows : {5, 6, 10, 11, 28, 29}) {
    SCOPED_TRACE(rows);
    SampledQuantiles loads;
    for (std::size_t i = 0; i < rows; ++i) {
      auto const observed_us = 1'000. * static_cast<double>(i);
      auto const row = loads.add_row(observed_us);
      for (int sample = 0; sample < 20; ++sample) loads.add(row, observed_us + sample);
    }
    std::vector<double> const quantiles{.5, .75, .9};
    auto const times = std::move(loads).finish(quantiles, 1);
    EXPECT_EQ(times.quantiles.at(0).interval_reaches_level, rows >= 6);
    EXPECT_EQ(times.quantiles.at(1).interval_reaches_level, rows >= 11);
    EXPECT_EQ(times.quantiles.at(2).interval_reaches_level, rows >= 29);
    EXPECT_EQ(times.quantiles.at(2).rows_needed, 29);
    // What ranks candidates has it all the same.
    EXPECT_LT(times.quantiles.at(0).low_us, times.quantiles.at(0).high_us);
  }
}

TEST(SampledQuantiles, HaveTheMedianOfTwoLoadsInTheirMiddle) {
  // Each load is sampled once, or several times.
  for (int const samples : {1, 2, 3}) {
    SCOPED_TRACE(samples);
    SampledQuantiles loads;
    for (double const observed_us : {1'400'000., 1'000'000.}) {
      auto const row = loads.add_row(observed_us);
      for (int i = 0; i < samples; ++i) loads.add(row, observed_us - 300'000);
    }
    std::vector<double> const quantiles{.5, .75};
    auto const times = std::move(loads).finish(quantiles, 1);
    auto const& median = times.quantiles.at(0);
    EXPECT_EQ(median.observed_us, 1'200'000);
    EXPECT_EQ(median.predicted_us, 900'000);
    EXPECT_EQ(median.low_us, 700'000);
    EXPECT_EQ(median.high_us, 1'100'000);
    EXPECT_EQ(median.saving_us, 300'000);
    EXPECT_EQ(median.saving_low_us, 300'000) << "of every resample";
    EXPECT_EQ(median.saving_high_us, 300'000);
    EXPECT_EQ(times.quantiles.at(1).observed_us, 1'400'000);
    EXPECT_EQ(times.quantiles.at(1).predicted_us, 1'100'000);
  }
}

}  // namespace
}  // namespace reprise
