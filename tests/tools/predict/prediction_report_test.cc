#include "tools/predict/prediction_report.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(PredictionReport, SaysASavingWithItsIntervalFromTheLesserToTheGreaterAmount) {
  EXPECT_EQ(saving_text({.saving_us = 100'000, .saving_low_us = 90'000, .saving_high_us = 120'000}),
            "saves 100.0 ms (90.0 to 120.0)");
  EXPECT_EQ(
      saving_text({.saving_us = -100'000, .saving_low_us = -120'000, .saving_high_us = -90'000}),
      "costs 100.0 ms (90.0 to 120.0)");
  EXPECT_EQ(saving_text({.saving_us = 40, .saving_low_us = 0, .saving_high_us = 60}),
            "changes nothing");
}

}  // namespace
}  // namespace reprise
