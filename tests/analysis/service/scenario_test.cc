// The text of scenarios.

#include <gmock/gmock.h>

#include "analysis/service/scenario.h"

namespace reprise {
namespace {

TEST(ServiceScenario, HasSeveralChangesOfOneDependency) {
  auto const scenario =
      parse_service_scenario("db:5432: tier=large, size=1e3,concurrency=8, rtt=-1.5ms, lost=1/3");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->target, "db:5432");
  EXPECT_EQ(scenario->tier, "large");
  EXPECT_EQ(scenario->size, 1'000);
  EXPECT_EQ(scenario->concurrency, 8);
  EXPECT_EQ(scenario->rtt_us, -1'500);
  EXPECT_EQ(scenario->lost->lost, 1);
  EXPECT_EQ(scenario->lost->of, 3);
}

TEST(ServiceScenario, OfTheServiceHasProcessorAndUsers) {
  auto const scenario = parse_service_scenario("service: cpu=x1.5, users=20");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->cpu, 1.5);
  EXPECT_EQ(scenario->users, 20);
}

TEST(ObservedConcurrency, IsTheMeanOfTheTimeInWhichTheServiceIsUsed) {
  EXPECT_EQ(observed_concurrency({}, 0), 1);
  std::vector<ServiceRequest> two;
  for (std::int64_t i = 0; i < 100; ++i) {
    // Each begins in the middle of the last one; nobody is there for an hour.
    auto const pause = i < 50 ? 0 : 3'600'000'000'000;
    two.push_back({.started_ns = i * 5'000'000 + pause, .took_us = 10'000, .calls = {}});
  }
  EXPECT_NEAR(observed_concurrency(two, 0), 2, .05);
  // One user, three requests in a millisecond.
  std::vector<ServiceRequest> quick;
  for (std::int64_t i = 0; i < 300; ++i) {
    quick.push_back({.started_ns = i / 3 * 1'000'000, .took_us = 333, .calls = {}});
  }
  EXPECT_EQ(observed_concurrency(quick, 1'000), 1);
  EXPECT_GT(observed_concurrency(quick, 0), 2.5);
}

TEST(ServiceScenario, SaysWhatIsWrong) {
  for (auto const* const text :
       {"", "db", "db: ", ": tier=a", "db: tier=", "db: size=0", "db: size=x", "db: size=nan",
        "db: rtt=5ms", "db: lost=2/2", "db: lost=0/2", "db: users=3", "service: tier=a",
        "service: users=0", "service: users=99999999", "service: cpu=2", "service: cpu=x0",
        "db: tier=a, b", "db: speed=3"}) {
    auto const scenario = parse_service_scenario(text);
    EXPECT_FALSE(scenario) << text;
    if (!scenario) EXPECT_THAT(scenario.error(), testing::HasSubstr("'")) << text;
  }
}

}  // namespace
}  // namespace reprise
