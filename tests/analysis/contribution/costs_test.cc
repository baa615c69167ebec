#include "analysis/contribution/costs.h"

#include <gmock/gmock.h>

#include <numeric>

#include "analysis/contribution/share.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Call a_request(std::string url, std::int64_t start_us, std::int64_t end_us, std::string type) {
  Call call{.name = std::move(url), .start_us = start_us, .end_us = end_us};
  call.set("type", std::move(type));
  call.set("bytes", "1000");
  call.set("protocol", "h2");
  return call;
}

/// Two hosts, and a task with a function inside it.
CallTree a_tree() {
  CallTree tree{.page = "https://a.test/", .window_us = 1000};
  tree.calls.push_back(a_request("https://a.test/?x=1", 0, 400, "Document"));
  tree.calls.push_back(
      {.kind = CallKind::kPhase, .name = "wait", .start_us = 0, .end_us = 300, .parent = 0});
  tree.calls.push_back(a_request("https://cdn.test/app.js?v=2", 400, 700, "Script"));
  tree.calls.back().set("cache-control", "no-store");
  Call task{.kind = CallKind::kTask, .name = "task", .start_us = 700, .end_us = 1200};
  Call script{.kind = CallKind::kTask, .name = "script", .start_us = 750, .end_us = 900};
  script.parent = 3;
  script.set("url", "https://cdn.test/app.js?v=2");
  script.set("function", "start");
  script.set("line", "12");
  tree.calls.push_back(task);
  tree.calls.push_back(script);
  return tree;
}

Costs costs_of(const std::vector<CallTree>& trees) {
  CostSums sums(Entities::built_in());
  for (CallTree const& tree : trees) sums.add(tree, share_evenly(tree).calls);
  return sums.means(trees.size());
}

const Cost& cost(const Costs& costs, CauseKind kind, std::string_view name) {
  for (auto const& each : costs[std::size_t(kind)]) {
    if (each.name == name) return each;
  }
  throw std::out_of_range(std::string(name));
}

TEST(Costs, AreOfTheHostsOfRequestsAndScripts) {
  auto const costs = costs_of({a_tree()});
  auto const& own = cost(costs, CauseKind::kHost, "a.test");
  EXPECT_EQ(own.us, 400);
  EXPECT_EQ(own.requests, 1);
  EXPECT_EQ(own.bytes, 1000);
  EXPECT_EQ(own.processor_us, 0);
  auto const& cdn = cost(costs, CauseKind::kHost, "cdn.test");
  EXPECT_EQ(cdn.us, 300 + 150);
  EXPECT_EQ(cdn.processor_us, 150);
  EXPECT_EQ(cdn.requests, 1);
}

TEST(Costs, OfTheMainThreadEndWithTheWindow) {
  auto const costs = costs_of({a_tree()});
  auto const& browser = cost(costs, CauseKind::kHost, "the browser itself");
  EXPECT_EQ(browser.processor_us, 300 - 150);
  EXPECT_EQ(browser.us, 150);
  EXPECT_EQ(browser.requests, 0);
}

TEST(Costs, OfAProcessorAreWhatATaskHadOfIt) {
  auto tree = a_tree();
  for (Call& call : tree.calls) {
    if (!call.attribute("url").empty()) call.set("processor_us", "60");
  }
  auto const costs = costs_of({tree});
  EXPECT_EQ(cost(costs, CauseKind::kHost, "cdn.test").processor_us, 60);
  for (auto const* const wrong : {"nan", "-5", ""}) {
    Call const task{.kind = CallKind::kTask, .start_us = 10, .end_us = 30};
    auto told = task;
    told.set("processor_us", wrong);
    EXPECT_EQ(processor_us(told), *wrong == '-' ? 0 : 20) << wrong;
  }
}

TEST(Costs, NameTheFunctionAndLineOfATracedScript) {
  auto const costs = costs_of({a_tree()});
  EXPECT_EQ(cost(costs, CauseKind::kScript, "start (https://cdn.test/app.js:12)").processor_us,
            150);
  EXPECT_EQ(cost(costs, CauseKind::kScript, "https://cdn.test/app.js").us, 300);
}

TEST(Costs, OfHeadersAndSettingsAreThoseOfTheirRequests) {
  auto const costs = costs_of({a_tree()});
  EXPECT_EQ(cost(costs, CauseKind::kSetting, "protocol: h2").us, 700);
  EXPECT_EQ(cost(costs, CauseKind::kSetting, "protocol: h2").bytes, 2000);
  EXPECT_EQ(cost(costs, CauseKind::kSetting, "cache-control: no-store").us, 300);
}

TEST(Costs, OfARequestCountInFullUnderEachOfItsSettings) {
  auto const costs = costs_of({a_tree()});
  auto const& settings = costs[std::size_t(CauseKind::kSetting)];
  auto const& hosts = costs[std::size_t(CauseKind::kHost)];
  auto const requests_of = [](const std::vector<Cost>& all) {
    return std::accumulate(all.begin(), all.end(), 0.0,
                           [](double sum, const Cost& each) { return sum + each.requests; });
  };
  EXPECT_EQ(cost(costs, CauseKind::kSetting, "protocol: h2").requests, 2);
  EXPECT_EQ(cost(costs, CauseKind::kSetting, "cache-control: no-store").requests, 1);
  EXPECT_EQ(requests_of(settings), 3) << "of two requests, of which one has two settings";
  EXPECT_EQ(requests_of(hosts), 2);
}

TEST(Costs, OfTheHostsSumToWhatIsNotAGap) {
  auto const tree = a_tree();
  auto const shares = share_evenly(tree);
  auto const costs = costs_of({tree});
  for (auto const kind : {CauseKind::kHost, CauseKind::kEntity}) {
    auto const& all = costs[std::size_t(kind)];
    EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0.0,
                              [](double sum, const Cost& each) { return sum + each.us; }),
              static_cast<double>(tree.window_us - shares.gap_us));
  }
}

TEST(Costs, AreMeansOfTheViewsAndRanked) {
  auto const costs = costs_of({a_tree(), {.page = "https://a.test/", .window_us = 500}});
  auto const& hosts = costs[std::size_t(CauseKind::kHost)];
  std::vector<std::string> names;
  for (auto const& each : hosts) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("cdn.test", "a.test", "the browser itself"));
  EXPECT_EQ(hosts[0].us, 225);
  EXPECT_EQ(hosts[0].requests, 0.5);
  EXPECT_THAT(costs_of({})[0], IsEmpty());
}

}  // namespace
}  // namespace reprise
