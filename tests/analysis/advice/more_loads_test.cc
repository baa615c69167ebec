#include "analysis/advice/more_loads.h"

#include <gmock/gmock.h>

#include <limits>

namespace reprise {
namespace {

using ::testing::Eq;
using ::testing::Optional;

Finding finding(double estimate, double high) {
  return {.shift = {.estimate = estimate, .low = estimate - 50, .high = high},
          .minimum_effect = 10};
}

TEST(MoreLoads, NarrowTheIntervalWithTheirSquareRoot) {
  EXPECT_THAT(times_the_loads_to_decide(finding(-60, 60)), Optional(4));
  EXPECT_THAT(times_the_loads_to_decide(finding(-60, 120)), Optional(9));
}

TEST(MoreLoads, TakeTheTimeOfMeasuringAndNotOfTheWholeBudget) {
  using namespace std::chrono_literals;
  EXPECT_EQ(budget_for_loads(600s, 300s, 4), 25min);
  EXPECT_EQ(budget_for_loads(600s, 301s, 4), 26min);
  EXPECT_EQ(budget_for_loads(600s, 600s, 4), 40min);
}

TEST(MoreLoads, AreNotAskedForWhereTheyWouldDecideNothing) {
  EXPECT_THAT(times_the_loads_to_decide(finding(-9, 60)), Eq(std::nullopt)) << "too little";
  EXPECT_THAT(times_the_loads_to_decide(finding(60, 90)), Eq(std::nullopt)) << "slower";
  EXPECT_THAT(times_the_loads_to_decide(finding(-60, -1)), Eq(std::nullopt));
  EXPECT_THAT(times_the_loads_to_decide(finding(-10, 40)), Eq(std::nullopt)) << "25 times";
  EXPECT_THAT(times_the_loads_to_decide(finding(-10, std::numeric_limits<double>::infinity())),
              Eq(std::nullopt));
  auto none = finding(0, 1);
  none.minimum_effect = 0;
  EXPECT_THAT(times_the_loads_to_decide(none), Eq(std::nullopt));
  auto decided = finding(-60, 60);
  decided.verdict = Verdict::kSame;
  EXPECT_THAT(times_the_loads_to_decide(decided), Eq(std::nullopt));
}

}  // namespace
}  // namespace reprise
