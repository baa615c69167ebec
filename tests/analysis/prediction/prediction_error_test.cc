#include "analysis/prediction/prediction_error.h"

#include <gmock/gmock.h>

#include <vector>

namespace reprise {
namespace {

TEST(PredictionError, IsOfTheMedianTheSavingAndTheDistribution) {
  std::vector<double> const observed{100, 110, 120};
  std::vector<double> const predicted{70, 80, 90};
  std::vector<double> const measured{60, 70, 85};
  auto const error = prediction_error(observed, predicted, measured);
  EXPECT_EQ(error.measured_median, 70);
  EXPECT_EQ(error.measured_saving, 40);
  EXPECT_EQ(error.of_median, 10);
  EXPECT_EQ(error.of_saving, .25);
  EXPECT_NEAR(error.distance.largest, 1. / 3, 1e-9);
  auto const nothing = prediction_error(observed, observed, measured);
  EXPECT_EQ(nothing.of_saving, 1);
  EXPECT_EQ(nothing.distance.largest, 1);
}

TEST(PredictionError, IsOfTheMiddleOfAnEvenNumberOfLoads) {
  std::vector<double> const observed{160, 100, 140, 120};
  std::vector<double> const predicted{110, 90};
  std::vector<double> const measured{60, 120};
  auto const error = prediction_error(observed, predicted, measured);
  EXPECT_EQ(error.measured_median, 90);
  EXPECT_EQ(error.measured_saving, 40);
  EXPECT_EQ(error.of_median, 10);
  EXPECT_EQ(error.of_saving, .25);
}

TEST(PredictionError, HasNoErrorOfASavingThatIsNone) {
  std::vector<double> const same{5, 6, 7};
  EXPECT_EQ(prediction_error(same, same, same).of_saving, std::nullopt);
}

}  // namespace
}  // namespace reprise
