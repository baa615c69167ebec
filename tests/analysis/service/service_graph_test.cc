// What is inferred of services whose graphs are known.

#include <gmock/gmock.h>

#include "analysis/service/service_graph.h"
#include "tests/analysis/dependency/compared_closures.h"
#include "tests/analysis/service/generated_service.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

ServiceEndpoint observed(const GeneratedService& service, std::uint64_t seed, std::size_t count) {
  std::vector<CallLoss> losses;
  auto all = service_endpoints(simulate_requests(service, seed, count), losses);
  EXPECT_EQ(all.size(), 1);
  return std::move(all.front());
}

ServiceGraph learnt(const GeneratedService& service, std::size_t count = 300) {
  return learn_service(observed(service, 7, count));
}

/// Two calls at once, and one after both, or after the first of them.
GeneratedService of_two(bool first_suffices) {
  GeneratedService service;
  service.calls = {{.dependency = "a", .operation = "get", .median_ms = 20},
                   {.dependency = "b", .operation = "get", .median_ms = 22},
                   {.dependency = "c", .operation = "get", .median_ms = 5}};
  (first_suffices ? service.calls[2].first_of : service.calls[2].all_of) = {0, 1};
  service.answer_all_of = {2};
  return service;
}

TEST(ServiceGraph, IsThatOfTwentyGeneratedServices) {
  TestSeed const seed;
  std::size_t both = 0;
  std::size_t only_truth = 0;
  std::size_t only_found = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    auto const service = generate_service(seed.value() * 1000 + i);
    auto const found = learn_service(observed(service, seed.value() + i, 300)).graph;
    auto const comparison = compare_closures(service.truth(), found);
    both += comparison.both;
    only_truth += comparison.only_truth.size();
    only_found += comparison.only_found.size();
    for (auto const& [to, from] : comparison.only_truth) {
      SCOPED_TRACE(to + " " + from);
      RecordProperty("missed", to + " " + from);
    }
  }
  auto const share = [both](std::size_t others) {
    return static_cast<double>(both) / static_cast<double>(both + others);
  };
  EXPECT_GT(both, 200);
  RecordProperty("precision", std::to_string(share(only_found)));
  RecordProperty("recall", std::to_string(share(only_truth)));
  EXPECT_GE(share(only_found), .95);
  EXPECT_GE(share(only_truth), .95);
}

TEST(ServiceGraph, TellsAllOfFromFirstOf) {
  auto const all_of = learnt(of_two(false));
  EXPECT_EQ(all_of.graph.join(2), DependencyJoin::kAllOf);
  EXPECT_THAT(all_of.ambiguous(), testing::IsEmpty());
  auto const first_of = learnt(of_two(true));
  EXPECT_EQ(first_of.graph.join(2), DependencyJoin::kFirstOf);
  EXPECT_THAT(first_of.ambiguous(), testing::IsEmpty());
  EXPECT_THAT(first_of.background, testing::IsEmpty());
}

TEST(ServiceGraph, ReportsAJoinThatIsNeverLateAsAmbiguous) {
  auto service = of_two(false);
  service.calls[0].median_ms = .5;
  service.calls[0].spread = .1;
  auto const graph = learnt(service);
  auto const ambiguous = graph.ambiguous();
  ASSERT_EQ(ambiguous.size(), 1);
  EXPECT_EQ(graph.graph.nodes[graph.graph.edges[ambiguous[0]].from].type, "a");
  EXPECT_EQ(graph.graph.nodes[graph.graph.edges[ambiguous[0]].to].type, "c");
  EXPECT_GT(graph.graph.edges[ambiguous[0]].slack_us, 5'000);
}

TEST(ServiceGraph, TakesWhatExplainsMostWhereWorkHidesWhatIsWaitedFor) {
  // After each call there is so much work, more or less, that even its longest time would not have
  // been too late for the next.
  ServiceEndpoint endpoint{.service = "s", .endpoint = "e", .requests = {}};
  for (std::int64_t i = 0; i < 300; ++i) {
    auto const start = 2'000 + i * 37 % 41 * 100;
    auto const end = start + 1'000 + i * 53 % 25 * 100;
    auto const next = end + 4'000 + i * 29 % 43 * 100;
    endpoint.requests.push_back(
        {.took_us = next + 500,
         .calls = {{.dependency = "db",
                    .operation = "select",
                    .attempts = {{.start_us = start, .end_us = end}}},
                   {.dependency = "cache",
                    .operation = "set",
                    .attempts = {{.start_us = next, .end_us = next + 300}}}}});
  }
  auto const graph = learn_service(endpoint);
  auto const [begin, waits] = graph.graph.edges_to(1);
  ASSERT_EQ(waits - begin, 1);
  EXPECT_EQ(graph.graph.nodes[begin->from].type, "db");
  EXPECT_EQ(graph.ambiguous().size(), 1);
}

TEST(ServiceGraph, HasARetryInItsCall) {
  auto service = of_two(false);
  service.calls[2].fails = .2;
  auto const graph = learnt(service, 500);
  ASSERT_EQ(graph.graph.nodes.size(), 4);
  EXPECT_EQ(graph.retried[0] + graph.retried[1], 0);
  EXPECT_GT(graph.retried[2], 60);
  EXPECT_LT(graph.retried[2], 140);
}

TEST(ServiceGraph, KnowsWhatNothingWaitsFor) {
  auto service = of_two(false);
  service.calls.push_back({.dependency = "log", .operation = "write", .median_ms = 30});
  auto const graph = learnt(service);
  ASSERT_EQ(graph.background.size(), 1);
  EXPECT_EQ(graph.graph.nodes[graph.background[0]].type, "log");
}

TEST(ServiceGraph, OfManyKindsOfCallsHasTheMostFrequent) {
  ServiceEndpoint endpoint{.service = "s", .endpoint = "e", .requests = {}};
  for (int i = 0; i < 120; ++i) {
    ServiceRequest request{.took_us = 1'000'000};
    for (int k = 0; k < 300; ++k) {
      if (k >= 150 && i % 2 == 0) continue;
      request.calls.push_back({.dependency = "d",
                               .operation = std::to_string(k),
                               .attempts = {{.start_us = k * 10, .end_us = k * 10 + 5}}});
    }
    endpoint.requests.push_back(std::move(request));
  }
  auto const graph = learn_service(endpoint);
  EXPECT_EQ(graph.graph.nodes.size(), ServiceGraph::kCallsMax + 1);
  EXPECT_EQ(graph.calls_not_kept, 100 * 60);
}

}  // namespace
}  // namespace reprise
