// Many users at a time, with answers that can be counted by hand.

#include <gmock/gmock.h>

#include "analysis/service/service_prediction.h"

namespace reprise {
namespace {

/// Requests with `own_us` of work before a call of `call_us`, and as much after it.
ServiceEndpoint requests_of(std::int64_t own_us, std::int64_t call_us) {
  ServiceEndpoint endpoint{.service = "s", .endpoint = "e", .requests = {}};
  for (int i = 0; i < 100; ++i) {
    endpoint.requests.push_back(
        {.started_ns = i * 1'000'000'000LL,
         .took_us = 2 * own_us + call_us,
         .calls = {{.dependency = "db",
                    .operation = "select",
                    .attempts = {{.start_us = own_us, .end_us = own_us + call_us}}}}});
  }
  return endpoint;
}

ServicePrediction with_users(const ServiceEndpoint& endpoint, const std::string& change,
                             const LatencyProfile& profile = {}, std::uint32_t workers = 1,
                             double service_demand_us = 0) {
  auto const graph = learn_service(endpoint);
  std::vector<ServiceScenario> const scenarios = {*parse_service_scenario("service: " + change)};
  auto const made = service_change(graph, endpoint.requests, scenarios, profile);
  EXPECT_TRUE(made) << made.error();
  return predict_service(
      graph, endpoint.requests, *made,
      {.samples_max = 3'000, .workers = workers, .service_demand_us = service_demand_us});
}

TEST(ServiceLoad, OfOneUserIsWhatWasObserved) {
  auto const alone = with_users(requests_of(1'003, 10'001), "users=1");
  EXPECT_THAT(alone.times.predicted_us, testing::Each(12'007));
}

TEST(ServiceLoad, OfManyUsersIsAsLongAsTheWorkOfAll) {
  // 20 ms of work each, one at a time: in a closed loop each waits for all others.
  auto const busy = with_users(requests_of(10'003, 1'001), "users=8");
  EXPECT_THAT(busy.times.predicted_us, testing::Each(testing::Eq(8 * 2 * 10'003)));
  auto const two = with_users(requests_of(10'003, 1'001), "users=8", {}, 2);
  EXPECT_NEAR(two.times.quantiles[0].predicted_us, 4 * 2 * 10'003, 11'000);
}

TEST(ServiceLoad, HasTheServiceDemandThatIsTold) {
  // The spans show 20 ms of it, and miss 10.
  auto const more = with_users(requests_of(10'003, 1'001), "users=8", {}, 1, 30'000);
  EXPECT_NEAR(more.work_factor, 1.5, .001);
  EXPECT_NEAR(more.times.quantiles[0].predicted_us, 8 * 30'000, 50);
  // Of the 20 ms between calls that they show, 12 were waiting.
  auto const less = with_users(requests_of(10'003, 1'001), "users=8", {}, 1, 8'000);
  EXPECT_NEAR(less.times.quantiles[0].predicted_us, 8 * 8'000, 50);
}

TEST(ServiceLoad, DoesNotDelayCallsThatRunBesideEachOther) {
  auto const waiting = with_users(requests_of(11, 100'003), "users=4");
  EXPECT_NEAR(waiting.times.quantiles[0].predicted_us, 100'025, 50);
}

TEST(ServiceLoad, TakesTheTimeOfACallFromItsConcurrency) {
  LatencyProfile const profile{
      .dependencies = {{.name = "db",
                        .observed = {.concurrency = 1},
                        .latencies = {{.conditions = {.concurrency = 1}, .times_us = {50'000}},
                                      {.conditions = {.concurrency = 4}, .times_us = {80'000}}}}}};
  auto const loaded = with_users(requests_of(11, 50'003), "users=4", profile);
  EXPECT_NEAR(loaded.times.quantiles[0].predicted_us, 80'025, 1'000);
}

TEST(ServiceLoad, KeepsWhatElseIsAskedOfTheDependency) {
  auto const endpoint = requests_of(11, 50'003);
  auto const graph = learn_service(endpoint);
  LatencyProfile const profile{
      .dependencies = {
          {.name = "db",
           .observed = {.size = 10, .concurrency = 1},
           .latencies = {
               {.conditions = {.size = 10, .concurrency = 1}, .times_us = {50'000}},
               {.conditions = {.size = 10, .concurrency = 4}, .times_us = {80'000}},
               {.conditions = {.size = 1'000, .concurrency = 1}, .times_us = {70'000}},
               {.conditions = {.size = 1'000, .concurrency = 4}, .times_us = {100'000}}}}}};
  auto const changed = [&](std::initializer_list<std::string_view> texts) {
    std::vector<ServiceScenario> scenarios;
    for (auto const text : texts) scenarios.push_back(*parse_service_scenario(text));
    return service_change(graph, endpoint.requests, scenarios, profile);
  };
  auto const median = [&](std::initializer_list<std::string_view> texts) {
    auto const change = changed(texts);
    EXPECT_TRUE(change) << change.error();
    return predict_service(graph, endpoint.requests, *change, {.samples_max = 3'000})
        .times.quantiles[0]
        .predicted_us;
  };
  // All users call at once; the half that is lost doubles that on the other.
  EXPECT_NEAR(median({"service: users=2"}), 60'025, 1'000);
  EXPECT_NEAR(median({"service: users=2", "db: lost=1/2"}), 80'025, 1'000);
  EXPECT_NEAR(median({"service: users=4", "db: size=100"}), 90'025, 1'000);
  EXPECT_FALSE(changed({"service: users=4", "db: concurrency=2"}));
  auto const many = changed({"service: users=9"});
  ASSERT_EQ(many->remarks.size(), 1U);
  EXPECT_THAT(many->remarks[0], testing::HasSubstr("at most 4 calls at a time"));
  EXPECT_THAT(changed({"service: users=4"})->remarks, testing::IsEmpty());
  // Calls on the one replica that is left are more than were measured.
  auto const lost = changed({"service: users=2", "db: lost=4/5"});
  ASSERT_TRUE(lost) << lost.error();
  EXPECT_THAT(lost->remarks, testing::ElementsAre(testing::HasSubstr("at most 4 calls at a time")));
  EXPECT_NEAR(median({"service: users=2", "db: lost=4/5"}), 80'025, 1'000);
}

TEST(ServiceLoad, EndsARequestWithItsAnswerAndNotWithACallAfterIt) {
  auto endpoint = requests_of(1'003, 10'001);
  for (std::size_t i = 0; i < endpoint.requests.size(); i += 2) {
    endpoint.requests[i].calls.push_back({.dependency = "log",
                                          .operation = "write",
                                          .attempts = {{.start_us = 12'500, .end_us = 20'000}}});
  }
  auto const alone = with_users(endpoint, "users=1");
  EXPECT_GE(quantile_of(alone.times.predicted_us, .01), 12'007);
  EXPECT_EQ(alone.times.quantiles[0].observed_us, 12'007);
}

TEST(ServiceLoad, OfALostReplicaIsThatOfItsUsersOnTheOthers) {
  auto endpoint = requests_of(10'003, 1'001);
  // Four at a time, on two replicas; with a pause in which nobody uses them.
  for (std::size_t i = 0; i < endpoint.requests.size(); ++i) {
    auto const pause = i < endpoint.requests.size() / 2 ? 0 : 3'600'000'000'000;
    endpoint.requests[i].started_ns = static_cast<std::int64_t>(i) * 21'007'000 / 4 + pause;
  }
  auto const graph = learn_service(endpoint);
  std::vector<ServiceScenario> const scenarios = {*parse_service_scenario("service: lost=1/2")};
  auto const change = service_change(graph, endpoint.requests, scenarios, {});
  ASSERT_TRUE(change) << change.error();
  EXPECT_EQ(change->observed_users, 2);
  EXPECT_EQ(change->users, 4);
  // The database has as many calls as before, whatever its profile says.
  LatencyProfile const profile{
      .dependencies = {{.name = "db",
                        .observed = {.concurrency = 1},
                        .latencies = {{.conditions = {.concurrency = 1}, .times_us = {1'000}},
                                      {.conditions = {.concurrency = 9}, .times_us = {9'000}}}}}};
  EXPECT_THAT(service_change(graph, endpoint.requests, scenarios, profile)->calls.at(0).loaded,
              testing::IsEmpty());
  // Also when it is said how many users each replica has, if there were as many.
  auto const with = [&](const char* text) {
    std::vector<ServiceScenario> const said = {*parse_service_scenario(text)};
    return service_change(graph, endpoint.requests, said, profile);
  };
  auto const of_two = with("service: users=2, lost=1/2");
  EXPECT_EQ(of_two->users, 4);
  EXPECT_THAT(of_two->calls.at(0).loaded, testing::IsEmpty());
  auto const of_five = with("service: users=5, lost=1/2");
  EXPECT_EQ(of_five->users, 10);
  EXPECT_THAT(of_five->calls.at(0).loaded, testing::SizeIs(2));
  EXPECT_EQ(of_five->calls.at(0).calls_factor, .5) << "the calls of five";
  EXPECT_EQ(with("service: users=5000, lost=1/2")->users, 10'000);
  auto const of_too_many = with("service: users=10000, lost=1/2");
  ASSERT_FALSE(of_too_many);
  EXPECT_EQ(of_too_many.error(),
            "'service: users=10000, lost=1/2' gives each replica that is left 20000 users; at most "
            "10000 are simulated");
}

TEST(ServiceLoad, KeepsTheCallsOfItsUsersWhenAReplicaIsLost) {
  LatencyProfile const profile{
      .dependencies = {{.name = "db",
                        .observed = {.concurrency = 1},
                        .latencies = {{.conditions = {.concurrency = 1}, .times_us = {50'000}},
                                      {.conditions = {.concurrency = 4}, .times_us = {80'000}},
                                      {.conditions = {.concurrency = 8}, .times_us = {200'000}}}}}};
  // Eight users of the one that is left, who call as often as four of each of two.
  for (auto const* const change : {"users=4", "users=4, lost=1/2"}) {
    auto const loaded = with_users(requests_of(11, 50'003), change, profile);
    EXPECT_NEAR(loaded.times.quantiles[0].predicted_us, 80'025, 1'000) << change;
  }
}

TEST(ServiceLoad, LosesReplicasOfADependencyWhateverTheOrderOfTheScenarios) {
  auto const endpoint = requests_of(11, 50'003);
  auto const graph = learn_service(endpoint);
  LatencyProfile profile{
      .dependencies = {{.name = "db",
                        .observed = {.concurrency = 1},
                        .latencies = {{.conditions = {.concurrency = 1}, .times_us = {50'000}},
                                      {.conditions = {.concurrency = 4}, .times_us = {80'000}}}}}};
  auto const changed = [&](std::initializer_list<std::string_view> texts) {
    std::vector<ServiceScenario> scenarios;
    for (auto const text : texts) scenarios.push_back(*parse_service_scenario(text));
    return service_change(graph, endpoint.requests, scenarios, profile);
  };
  auto const time_us = [&](std::initializer_list<std::string_view> texts) {
    auto const change = changed(texts);
    EXPECT_TRUE(change) << change.error();
    return change ? change->calls.at(0).to->at(.5) : 0;
  };
  EXPECT_NEAR(time_us({"db: lost=1/2", "db: concurrency=2"}), 80'000, 1);
  EXPECT_NEAR(time_us({"db: concurrency=2", "db: lost=1/2"}), 80'000, 1);
  // Twice an unknown concurrency is not known either.
  profile.dependencies.front().observed = {};
  EXPECT_NEAR(time_us({"db: lost=1/2", "db: concurrency=2"}), 80'000, 1);
  EXPECT_NEAR(time_us({"db: concurrency=2", "db: lost=1/2"}), 80'000, 1);
  auto const unknown = changed({"db: rtt=+1ms", "db: lost=1/2", "db: size=10"});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error(), testing::HasSubstr("needs the observed concurrency"));
}

}  // namespace
}  // namespace reprise
