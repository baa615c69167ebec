// Predictions with answers that can be counted by hand, and against simulated services.

#include <gmock/gmock.h>

#include "analysis/prediction/distribution_distance.h"
#include "analysis/service/service_prediction.h"
#include "tests/analysis/service/generated_service.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

ServiceEndpoint simulated(const GeneratedService& service, std::uint64_t seed, std::size_t count,
                          const std::map<std::string, double>& factors = {}) {
  std::vector<CallLoss> losses;
  return std::move(
      service_endpoints(simulate_requests(service, seed, count, factors), losses).front());
}

ServiceScenario scenario_of(std::string_view text) {
  auto scenario = parse_service_scenario(text);
  EXPECT_TRUE(scenario) << scenario.error();
  return std::move(*scenario);
}

ServicePrediction predicted(const ServiceEndpoint& endpoint, const ServiceGraph& graph,
                            std::string_view scenario, const LatencyProfile& profile = {}) {
  std::vector<ServiceScenario> const scenarios = {scenario_of(scenario)};
  auto const change = service_change(graph, endpoint.requests, scenarios, profile);
  EXPECT_TRUE(change) << change.error();
  return predict_service(graph, endpoint.requests, *change, {.samples_max = 5'000});
}

/// 120 requests of 10 + a, where a call of `db` takes a in 10 to 129 ms; a call of `cache` beside
/// it takes 20 ms, and the answer waits for both.
ServiceEndpoint two_beside() {
  ServiceEndpoint endpoint{.service = "s", .endpoint = "e", .requests = {}};
  for (std::int64_t i = 0; i < 120; ++i) {
    auto const end = 5'000 + (10 + i) * 1'000;
    endpoint.requests.push_back({.started_ns = i * 1'000'000'000,
                                 .took_us = std::max<std::int64_t>(end, 25'000) + 5'000,
                                 .calls = {{.dependency = "cache",
                                            .operation = "get",
                                            .attempts = {{.start_us = 5'000, .end_us = 25'000}}},
                                           {.dependency = "db",
                                            .operation = "select",
                                            .attempts = {{.start_us = 5'000, .end_us = end}}}}});
  }
  return endpoint;
}

std::vector<double> all_but(double added_us, const ServiceEndpoint& endpoint) {
  std::vector<double> times;
  for (auto const& request : endpoint.requests) {
    times.push_back(static_cast<double>(request.took_us) + added_us);
  }
  return times;
}

TEST(ServicePrediction, IsExactlyWhatWasObservedIfNothingChanges) {
  TestSeed const seed;
  for (std::uint64_t i = 0; i < rounds_of(20); ++i) {
    auto const endpoint =
        simulated(generate_service(seed.value() * 3000 + i), seed.value() + i, 150);
    auto const graph = learn_service(endpoint);
    auto const change = *service_change(graph, endpoint.requests, {}, {});
    auto const prediction = predict_service(graph, endpoint.requests, change, {});
    EXPECT_THAT(prediction.times.predicted_us, testing::ContainerEq(prediction.times.observed_us));
    EXPECT_TRUE(prediction.within_bound);
  }
}

TEST(ServicePrediction, AddsARoundTripToWhatIsWaitedFor) {
  auto const endpoint = two_beside();
  auto const graph = learn_service(endpoint);
  EXPECT_THAT(predicted(endpoint, graph, "*: rtt=+7ms").times.predicted_us,
              testing::ContainerEq(all_but(7'000, endpoint)));
  // The cache is waited for only where the database is faster.
  auto const further = predicted(endpoint, graph, "cache: rtt=+10ms").times.predicted_us;
  for (std::size_t i = 0; i < further.size(); ++i) {
    auto const db = 15'000 + 1'000 * static_cast<double>(i);
    EXPECT_EQ(further[i], std::max(db, 35'000.) + 5'000) << i;
  }
}

TEST(ServicePrediction, SeesThroughRoundedStarts) {
  // A call of the cache ends .3 ms before one of the database, which is waited for; both begin .2
  // ms after the request. Starts are told in ms only: the cache seems to end last now and then.
  ServiceEndpoint endpoint{.service = "s", .endpoint = "e", .requests = {}};
  for (std::int64_t i = 0; i < 200; ++i) {
    auto const began = i * 1'000'000 + i * 37 % 1'000;
    auto const rounded = [began](std::int64_t us) {
      return (began + us) / 1'000 * 1'000 - began / 1'000 * 1'000;
    };
    auto const attempt = [&](std::int64_t start, std::int64_t took) {
      return ServiceAttempt{.start_us = rounded(start), .end_us = rounded(start) + took};
    };
    auto const db_us = 1'000 + i * 53 % 700;
    endpoint.requests.push_back(
        {.started_ns = began / 1'000 * 1'000'000,
         .took_us = 1'000 + db_us + 2'107,
         .calls = {{.dependency = "cache", .operation = "get", .attempts = {attempt(200, 707)}},
                   {.dependency = "db", .operation = "select", .attempts = {attempt(250, db_us)}},
                   {.dependency = "db",
                    .operation = "price",
                    .attempts = {attempt(1'000 + db_us, 1'107)}}}});
  }
  auto const graph = learn_service(endpoint);
  ASSERT_EQ(graph.grain_us, 1'000);
  EXPECT_THAT(predicted(endpoint, graph, "service: cpu=x1").times.predicted_us,
              testing::ContainerEq(all_but(0, endpoint)));
  // The calls of the database follow each other.
  auto const further = predicted(endpoint, graph, "db: rtt=+10ms").times.quantiles[0];
  EXPECT_NEAR(further.predicted_us - further.observed_us, 20'000, 60);
}

TEST(ServicePrediction, SharesOutTheWorkThatRoundedStartsHide) {
  // From 2 to 6 ms of work before a call, and .3 ms after it.
  ServiceEndpoint endpoint{.service = "s", .endpoint = "e", .requests = {}};
  std::vector<double> doubled;
  for (std::int64_t i = 0; i < 205; ++i) {
    auto const work = 2'000 + i * 37 % 41 * 100;
    auto const start = (work + i * 53 % 1'000) / 1'000 * 1'000;
    endpoint.requests.push_back(
        {.started_ns = i * 1'000'000'000,
         .took_us = work + 1'107 + 300,
         .calls = {{.dependency = "db",
                    .operation = "select",
                    .attempts = {{.start_us = start, .end_us = start + 1'107}}}}});
    doubled.push_back(static_cast<double>(2 * (work + 300) + 1'107));
  }
  auto const graph = learn_service(endpoint);
  ASSERT_EQ(graph.grain_us, 1'000);
  auto const slower = predicted(endpoint, graph, "service: cpu=x2").times.predicted_us;
  for (std::size_t i = 0; i < doubled.size(); ++i) EXPECT_NEAR(slower[i], doubled[i], 10) << i;
  // A user alone waits as long as was observed, at any quantile.
  auto const alone = predicted(endpoint, graph, "service: users=1").times;
  for (auto const& quantile : alone.quantiles) {
    EXPECT_NEAR(quantile.predicted_us, quantile.observed_us, 150);
  }
}

TEST(ServicePrediction, MovesATimeByTheProfileAtItsRank) {
  auto const endpoint = two_beside();
  auto const graph = learn_service(endpoint);
  std::vector<double> before;
  std::vector<double> after;
  for (int i = 0; i < 120; ++i) {
    before.push_back((10 + i) * 1'000);
    after.push_back((10 + i) * 3'000);
  }
  LatencyProfile const profile{
      .dependencies = {{.name = "db",
                        .observed = {.tier = "small"},
                        .latencies = {{.conditions = {.tier = "small"}, .times_us = before},
                                      {.conditions = {.tier = "tiny"}, .times_us = after}}}}};
  auto const slower = predicted(endpoint, graph, "db: tier=tiny", profile);
  EXPECT_TRUE(slower.within_bound);
  for (std::size_t i = 0; i < 120; ++i) {
    auto const db = 5'000 + 3'000 * (10. + static_cast<double>(i));
    // A rank is in the middle of its step.
    EXPECT_NEAR(slower.times.predicted_us[i], std::max(db, 25'000.) + 5'000, 1'100) << i;
  }
}

TEST(ServicePrediction, DrawsWhereTheObservedTimesHaveNoProfile) {
  auto const endpoint = two_beside();
  auto const graph = learn_service(endpoint);
  LatencyProfile const profile{
      .dependencies = {{.name = "db",
                        .observed = {.tier = "small"},
                        .latencies = {{.conditions = {.tier = "tiny"}, .times_us = {30'000}}}}}};
  auto const prediction = predicted(endpoint, graph, "db: tier=tiny", profile);
  EXPECT_THAT(prediction.times.predicted_us, testing::Each(40'000));
  EXPECT_TRUE(prediction.within_bound);
  EXPECT_GE(prediction.times.predicted_us.size(), 500);
}

TEST(ServicePrediction, MultipliesTheOwnWork) {
  auto const endpoint = two_beside();
  EXPECT_THAT(predicted(endpoint, learn_service(endpoint), "service: cpu=x3").times.predicted_us,
              testing::ContainerEq(all_but(20'000, endpoint)));
}

TEST(ServicePrediction, RefusesWhatItCannotKnow) {
  auto const endpoint = two_beside();
  auto const graph = learn_service(endpoint);
  auto const why = [&](std::string_view text) {
    std::vector<ServiceScenario> const scenarios = {scenario_of(text)};
    auto const change = service_change(graph, endpoint.requests, scenarios, {});
    return change ? std::string() : change.error();
  };
  EXPECT_THAT(why("queue: rtt=+1ms"), testing::HasSubstr("selects none of: cache, db"));
  EXPECT_THAT(why("db: tier=large"), testing::HasSubstr("needs a profile of db"));
}

TEST(ServicePrediction, IsCloseToTheSimulatedService) {
  TestSeed const seed;
  std::vector<double> ours;
  std::vector<double> nothing;
  for (std::uint64_t i = 0; i < rounds_of(10); ++i) {
    auto const service = generate_service(seed.value() * 5000 + i);
    auto const& dependency = service.calls.front().dependency;
    // So many requests that chance alone moves nothing as far as the bounds.
    auto const before = simulated(service, seed.value() + i, 1'600);
    auto const after = simulated(service, seed.value() + 700 + i, 1'600, {{dependency, 2}});
    // The dependency was measured alone, with times of its own.
    LatencyProfile profile;
    profile.dependencies.push_back(
        {.name = dependency, .observed = {.tier = "fast"}, .latencies = {}});
    for (auto const& [tier, factor] : std::map<std::string, double>{{"fast", 1}, {"slow", 2}}) {
      std::map<std::string, std::vector<double>> times;
      for (auto const& request :
           simulated(service, seed.value() + 900 + i, 1'500, {{dependency, factor}}).requests) {
        for (auto const& call : request.calls) {
          if (call.dependency != dependency) continue;
          times[call.operation].push_back(static_cast<double>(call.attempts.back().took_us()));
        }
      }
      for (auto& [operation, all] : times) {
        profile.dependencies[0].latencies.push_back(
            {.operation = operation, .conditions = {.tier = tier}, .times_us = std::move(all)});
      }
    }
    auto const graph = learn_service(before);
    auto const prediction = predicted(before, graph, dependency + ": tier=slow", profile);
    auto const measured = all_but(0, after);
    ours.push_back(distance_of(prediction.times.predicted_us, measured).median);
    nothing.push_back(distance_of(prediction.times.observed_us, measured).median);
  }
  EXPECT_LE(quantile_of(ours, .5), .04);
  EXPECT_LE(quantile_of(ours, 1), .08);
  EXPECT_GE(quantile_of(nothing, .5), 4 * quantile_of(ours, .5));
}

}  // namespace
}  // namespace reprise
