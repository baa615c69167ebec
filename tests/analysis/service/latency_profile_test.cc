// Profiles with answers that can be counted by hand.

#include <gmock/gmock.h>

#include "analysis/service/latency_profile.h"

namespace reprise {
namespace {

constexpr std::string_view kProfile =
    R"({"schema":"reprise-latency-profile/1","dependencies":[{"name":"db",)"
    R"("observed":{"tier":"small","size":10,"concurrency":1},"latencies":[)"
    R"({"tier":"small","size":10,"concurrency":1,"ms":[1,2,3]},)"
    R"({"tier":"small","size":1000,"concurrency":1,"ms":[3,4,5]},)"
    R"({"tier":"small","size":10,"concurrency":4,"ms":[5,6,7]},)"
    R"({"tier":"large","size":10,"concurrency":1,"ms":[0.5,1,1.5]},)"
    R"({"tier":"small","size":10,"concurrency":1,"operation":"*slow*","ms":[3,2,1]}]}]})";

double median_at(const LatencyConditions& conditions) {
  auto const profile = read_latency_profile(kProfile);
  EXPECT_TRUE(profile) << profile.error();
  auto const found = profile->find("db")->at("query", conditions);
  EXPECT_TRUE(found) << found.error();
  return found ? found->at(.5) : -1;
}

TEST(LatencyProfile, HasTheQuantilesOfWhatWasMeasured) {
  auto const profile = *read_latency_profile(kProfile);
  auto const times =
      *profile.find("db")->at("query", {.tier = "large", .size = 10, .concurrency = 1});
  EXPECT_DOUBLE_EQ(times.at(0), 500);
  EXPECT_DOUBLE_EQ(times.at(.25), 750);
  EXPECT_DOUBLE_EQ(times.at(.5), 1'000);
  EXPECT_DOUBLE_EQ(times.at(1), 1'500);
}

TEST(LatencyProfile, IsInterpolatedByTheLogarithmOfSizeAndConcurrency) {
  EXPECT_DOUBLE_EQ(median_at({.tier = "small", .size = 100, .concurrency = 1}), 3'000);
  EXPECT_DOUBLE_EQ(median_at({.tier = "small", .size = 10, .concurrency = 2}), 4'000);
}

TEST(LatencyProfile, TakesANameThatLooksLikeAGlobAsItIs) {
  DependencyProfile const profile{
      .name = "db",
      .latencies = {{.operation = "SELECT * FROM cart", .times_us = {50'000}},
                    {.operation = "SELECT id FROM cart", .times_us = {1'000}},
                    {.operation = "*", .times_us = {7'000}}}};
  EXPECT_EQ(profile.at("SELECT id FROM cart", {})->at(.9), 1'000);
  EXPECT_EQ(profile.at("SELECT * FROM cart", {})->at(.1), 50'000);
  EXPECT_EQ(profile.at("COMMIT", {})->at(.5), 7'000);
}

TEST(LatencyProfile, RefusesWhatWasNotMeasured) {
  auto const profile = *read_latency_profile(kProfile);
  auto const why = [&](const LatencyConditions& conditions) {
    auto const found = profile.find("db")->at("query", conditions);
    return found ? std::string() : found.error();
  };
  EXPECT_THAT(why({.tier = "huge", .size = 10, .concurrency = 1}), testing::HasSubstr("'huge'"));
  EXPECT_THAT(why({.tier = "small", .size = 10, .concurrency = 8}),
              testing::HasSubstr("concurrency 8 is outside of what was measured, 1 to 4"));
  EXPECT_THAT(why({.tier = "small", .size = 9, .concurrency = 1}), testing::HasSubstr("size 9"));
  EXPECT_EQ(profile.find("cache"), nullptr);
}

TEST(LatencyProfile, ComesBackAsItWasWritten) {
  auto const text = latency_profile_json(*read_latency_profile(kProfile));
  EXPECT_EQ(latency_profile_json(*read_latency_profile(text)), text);
}

TEST(LatencyProfile, SaysWhatIsWrongInAFile) {
  auto const fault = [](std::string_view text) {
    auto const read = read_latency_profile(text);
    return read ? std::string() : read.error();
  };
  EXPECT_THAT(fault("{"), testing::HasSubstr("not JSON"));
  EXPECT_THAT(fault("[]"), testing::HasSubstr("not a JSON object"));
  EXPECT_THAT(fault(R"({"schema":"x"})"), testing::HasSubstr("reprise-latency-profile/1"));
  auto const with = [&](std::string_view latencies) {
    return fault(R"({"schema":"reprise-latency-profile/1","dependencies":[{"name":"db",)"
                 R"("latencies":[)" +
                 std::string(latencies) + "]}]}");
  };
  EXPECT_EQ(with(R"({"ms":[1]})"), "");
  EXPECT_THAT(with(R"({"ms":[]})"), testing::HasSubstr("latencies[0].ms must be times"));
  EXPECT_THAT(with(R"({"ms":[-1]})"), testing::HasSubstr("from 0 to a day"));
  EXPECT_THAT(with(R"({"ms":[1],"size":"x"})"), testing::HasSubstr("size"));
}

TEST(LatencyProfile, PlacesATimeInTheMiddleOfItsEquals) {
  std::vector<double> const sorted = {1, 2, 2, 3};
  EXPECT_DOUBLE_EQ(share_below(sorted, 1), .125);
  EXPECT_DOUBLE_EQ(share_below(sorted, 2), .5);
  EXPECT_DOUBLE_EQ(share_below(sorted, 9), .875);
}

}  // namespace
}  // namespace reprise
