#include "analysis/lost_loads.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(LostLoads, AreThoseThatWereDisturbedOrFailedAndNoWarmUps) {
  LoadResult result;
  result.loads.resize(5);
  result.loads[0].warm_up = true;
  result.loads[0].page.outcome = LoadOutcome::kNavigationFailed;
  result.loads[1].skipped = "the host took 30 ms";
  result.loads[1].page.outcome = LoadOutcome::kNavigationFailed;
  result.loads[2].page.outcome = LoadOutcome::kTimedOut;
  result.loads[3].page.outcome = LoadOutcome::kNavigationFailed;
  result.loads[3].page.failure = "net::ERR_FAILED";
  LostLoads lost;
  lost.add({});
  EXPECT_EQ(lost_text(lost), "");
  lost.add(result);
  EXPECT_EQ(lost.made, 4U);
  EXPECT_EQ(lost.lost(), 3U);
  EXPECT_EQ(lost_text(lost),
            "3 of 4 loads do not count: 1 was disturbed (the host took 30 ms), 2 failed (the first "
            "one: " +
                std::string(to_string(LoadOutcome::kTimedOut)) + ")");
}

}  // namespace
}  // namespace reprise
