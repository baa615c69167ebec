#include "analysis/dependency/perturbation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "analysis/dependency/learn.h"
#include "tests/analysis/dependency/compared_closures.h"
#include "tests/analysis/dependency/generated_page.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using What = DependencyFinding::What;

/// All pairs of several pages.
struct PooledPairs {
  std::size_t both = 0, only_truth = 0, only_found = 0;

  void add(const ClosureComparison& comparison) {
    both += comparison.both;
    only_truth += comparison.only_truth.size();
    only_found += comparison.only_found.size();
  }
  double precision() const {
    return static_cast<double>(both) / static_cast<double>(both + only_found);
  }
  double recall() const {
    return static_cast<double>(both) / static_cast<double>(both + only_truth);
  }
};

/// What `find` makes of six loads of each page, against the truth.
template <class Find>
PooledPairs pairs_of(const TestSeed& seed, std::size_t pages, Find find) {
  PooledPairs pairs;
  for (std::uint64_t i = 0; i < pages; ++i) {
    auto const page = generate_page(seed.value() * 1000 + i);
    auto const loads = simulate_loads(page, {}, seed.value() + i, 6);
    pairs.add(compare_closures(page.truth(), find(page, loads, seed.value() + i)));
  }
  return pairs;
}

TEST(Perturbation, FindsTheTrueGraphOfGeneratedPages) {
  TestSeed const seed;
  auto const pairs =
      pairs_of(seed, rounds_of(24), [](auto& page, auto& loads, std::uint64_t chance) {
        return search_dependencies(page, loads, chance).graph;
      });
  EXPECT_GE(pairs.precision(), .95);
  EXPECT_GE(pairs.recall(), .95);
}

TEST(Perturbation, WatchingAloneFindsLess) {
  TestSeed const seed;
  auto const pairs = pairs_of(seed, rounds_of(96), [](auto&, auto& loads, std::uint64_t) {
    return learn_dependencies(loads);
  });
  // README.md has these figures.
  EXPECT_GE(pairs.precision(), .95);
  EXPECT_GE(pairs.recall(), .6);
  EXPECT_LT(pairs.recall(), .9);
}

/// A document with a script that fetches two things and goes on after the first of them, and an
/// image that is always late enough to look like their consequence.
GeneratedPage small_page() {
  GeneratedPage page;
  page.requests = {
      {.url = "https://a.test/", .type = "Document"},
      {.url = "https://a.test/app.js",
       .type = "Script",
       .initiator = 0,
       .first_bytes = {0},
       .execution_ms = 30},
      {.url = "https://a.test/one",
       .type = "Fetch",
       .initiator = 1,
       .think_ms = 20,
       .executions = {1}},
      {.url = "https://a.test/two",
       .type = "Fetch",
       .initiator = 1,
       .think_ms = 120,
       .executions = {1}},
      {.url = "https://a.test/after",
       .type = "Fetch",
       .initiator = 1,
       .ends = {2, 3},
       .first_of = true},
      {.url = "https://a.test/late.png",
       .type = "Image",
       .initiator = 0,
       .first_bytes = {0},
       .gap_ms = 600},
  };
  page.tasks = false;
  return page;
}

std::uint32_t node_of(const DependencyGraph& graph, const std::string& path) {
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].name == "https://a.test/" + path) return i;
  }
  ADD_FAILURE() << path;
  return 0;
}

const DependencyEdge* edge_of(const DependencyGraph& graph, const std::string& from,
                              const std::string& to) {
  for (DependencyEdge const& edge : graph.edges) {
    if (edge.from == node_of(graph, from) && edge.to == node_of(graph, to)) return &edge;
  }
  return nullptr;
}

TEST(Perturbation, HoldsBackForLongerThanTheSlackOfEverything) {
  auto const page = small_page();
  auto const loads = simulate_loads(page, {}, 1, 4);
  DependencySearch const search(learn_dependencies(loads), loads);
  auto const first = search.next();
  ASSERT_TRUE(first);
  EXPECT_THAT(first->held, testing::ElementsAre(node_of(search.graph(), "app.js")));
  for (ObservedPage const& load : loads) {
    auto const placed = place_nodes(search.graph(), load);
    auto const slack = placed[node_of(search.graph(), "late.png")]->start_us -
                       placed[first->held[0]]->first_byte_us;
    EXPECT_GT(first->hold_us, slack);
  }
}

TEST(Perturbation, FindsAlternativesOfWhichOneIsAlwaysFirst) {
  auto const page = small_page();
  auto const loads = simulate_loads(page, {}, 1, 4);
  auto const found = search_dependencies(page, loads, 1);
  EXPECT_EQ(edge_of(found.watched, "two", "after"), nullptr) << "it cannot be seen";
  for (auto const* const from : {"one", "two"}) {
    auto const* const edge = edge_of(found.graph, from, "after");
    ASSERT_NE(edge, nullptr) << from;
    EXPECT_EQ(edge->alternative, 1);
    EXPECT_TRUE(edge->evidence.held_back);
  }
  EXPECT_EQ(edge_of(found.graph, "one", "late.png"), nullptr);
  auto const* const script = edge_of(found.graph, "app.js", "one");
  ASSERT_NE(script, nullptr);
  EXPECT_EQ(script->kind, DependencyKind::kInitiator);
  EXPECT_EQ(script->evidence,
            (DependencyEvidence{.named = true, .steady = true, .held_back = true}));
}

TEST(Perturbation, ConfirmsDeniesAndFindsEdges) {
  auto const page = small_page();
  auto const loads = simulate_loads(page, {}, 1, 4);
  auto learnt = learn_dependencies(loads);
  auto const script = node_of(learnt, "app.js");
  auto const one = node_of(learnt, "one");
  auto const late = node_of(learnt, "late.png");
  // Instead of the truth: the script has nothing to do with `one`, but with the image.
  std::erase_if(learnt.edges,
                [&](const DependencyEdge& edge) { return edge.from == script && edge.to == one; });
  learnt.edges.push_back({.from = script, .to = late, .kind = DependencyKind::kScriptOrder});
  sort_edges(learnt.edges);
  DependencySearch search(learnt, loads);
  auto const perturbation = *search.next();
  ASSERT_THAT(perturbation.held, testing::ElementsAre(script));
  SimulatedChange const change{.hold_ms = {{1, static_cast<double>(perturbation.hold_us) / 1000}}};
  auto const findings = search.take(perturbation, simulate_loads(page, change, 2, 3));
  auto const two = node_of(learnt, "two");
  EXPECT_THAT(findings,
              testing::IsSupersetOf(
                  {DependencyFinding{.what = What::kFound, .from = script, .to = one},
                   DependencyFinding{.what = What::kConfirmed, .from = script, .to = two},
                   DependencyFinding{.what = What::kDenied, .from = script, .to = late}}));
  EXPECT_NE(search.next()->held, perturbation.held);
}

TEST(Perturbation, SaysNothingWithoutTheHeldRequest) {
  auto const page = small_page();
  auto const loads = simulate_loads(page, {}, 1, 4);
  DependencySearch search(learn_dependencies(loads), loads);
  auto const before = search.graph().edges;
  auto const perturbation = *search.next();
  EXPECT_TRUE(search.take(perturbation, {}).empty());
  EXPECT_EQ(search.graph().edges, before);
  EXPECT_NE(search.next()->held, perturbation.held) << "it is not asked again";
}

TEST(Perturbation, SaysNothingWhereTheHeldRequestIsNotLate) {
  auto const page = small_page();
  auto const loads = simulate_loads(page, {}, 1, 4);
  DependencySearch search(learn_dependencies(loads), loads);
  auto const before = search.graph().edges;
  EXPECT_TRUE(search.take(*search.next(), simulate_loads(page, {}, 2, 3)).empty());
  EXPECT_EQ(search.graph().edges, before);
}

/// A search in four loads of the small page that made all of its tests.
TestedPage tested_small_page() {
  auto const page = small_page();
  auto const loads = simulate_loads(page, {}, 1, 4);
  DependencySearch search(learn_dependencies(loads), loads);
  for (std::uint64_t seed = 100; auto const perturbation = search.next(); ++seed) {
    SimulatedChange change;
    for (auto const node : perturbation->held) {
      auto const& name = search.graph().nodes[node].name;
      auto const held = std::ranges::find(page.requests, name, &GeneratedRequest::url);
      change.hold_ms[static_cast<int>(held - page.requests.begin())] =
          static_cast<double>(perturbation->hold_us) / 1000;
    }
    search.take(*perturbation, simulate_loads(page, change, seed, 3));
  }
  return {.graph = search.graph(), .tests = search.tests()};
}

TEST(Perturbation, OfEarlierLoadsSaysTheSameOfLaterOnes) {
  auto const earlier = tested_small_page();
  EXPECT_FALSE(earlier.tests.empty());
  auto const loads = simulate_loads(small_page(), {}, 77, 5);
  auto learnt = learn_dependencies(loads);
  auto const late = node_of(learnt, "late.png");
  // Not so: as if the image came steadily after the script.
  learnt.edges.push_back(
      {.from = node_of(learnt, "app.js"), .to = late, .kind = DependencyKind::kScriptOrder});
  sort_edges(learnt.edges);
  DependencySearch search(learnt, loads);
  auto const findings = search.take_earlier(earlier);
  auto const& graph = search.graph();
  EXPECT_EQ(edge_of(graph, "app.js", "late.png"), nullptr);
  EXPECT_THAT(findings, testing::Contains(DependencyFinding{
                            .what = What::kDenied, .from = node_of(graph, "app.js"), .to = late}));
  for (auto const* const from : {"one", "two"}) {
    auto const* const edge = edge_of(graph, from, "after");
    ASSERT_NE(edge, nullptr) << from;
    EXPECT_EQ(edge->alternative, 1);
    EXPECT_TRUE(edge->evidence.held_back);
    EXPECT_EQ(edge->loads, 5U) << "its gaps are those of the later loads";
  }
  EXPECT_TRUE(edge_of(graph, "app.js", "one")->evidence.held_back);
  EXPECT_FALSE(search.next()) << "all is tested";
  EXPECT_EQ(search.tests().size(), earlier.tests.size());
}

TEST(Perturbation, OfEarlierLoadsSaysNothingOfOtherRequests) {
  auto earlier = tested_small_page();
  for (DependencyNode& node : earlier.graph.nodes) node.name = "https://b.test/" + node.name;
  auto const loads = simulate_loads(small_page(), {}, 77, 5);
  auto const learnt = learn_dependencies(loads);
  DependencySearch search(learnt, loads);
  EXPECT_TRUE(search.take_earlier(earlier).empty());
  EXPECT_EQ(search.graph().edges, learnt.edges);
  EXPECT_TRUE(search.tests().empty());
}

TEST(Perturbation, OfEarlierLoadsDoesNotReplaceALaterOne) {
  auto const page = small_page();
  auto const loads = simulate_loads(page, {}, 1, 4);
  auto earlier = tested_small_page();
  DependencySearch search(learn_dependencies(loads), loads);
  auto const perturbation = *search.next();
  SimulatedChange const change{.hold_ms = {{1, static_cast<double>(perturbation.hold_us) / 1000}}};
  search.take(perturbation, simulate_loads(page, change, 2, 3));
  for (DependencyTest& test : earlier.tests) {
    for (auto& waits : test.waits) waits = false;
  }
  search.take_earlier(earlier);
  EXPECT_TRUE(edge_of(search.graph(), "app.js", "one")->evidence.held_back);
}

TEST(Perturbation, WithoutAResultLeavesWhatEarlierOnesSaid) {
  auto const page = small_page();
  auto const loads = simulate_loads(page, {}, 1, 4);
  auto const known = search_dependencies(page, loads, 1).graph;
  DependencySearch search(known, loads);
  while (auto const perturbation = search.next()) {
    EXPECT_TRUE(search.take(*perturbation, {}).empty());
  }
  for (auto const* const from : {"one", "two"}) {
    auto const* const edge = edge_of(search.graph(), from, "after");
    ASSERT_NE(edge, nullptr) << from;
    EXPECT_EQ(edge->alternative, 1);
    EXPECT_EQ(edge->evidence, edge_of(known, from, "after")->evidence);
  }
  EXPECT_TRUE(edge_of(search.graph(), "app.js", "one")->evidence.held_back);
}

}  // namespace
}  // namespace reprise
