// Scripts that are loaded otherwise, in a small graph.

#include "analysis/prediction/changed_graph.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace reprise {
namespace {

using testing::ElementsAre;

enum Node : std::uint32_t {
  kDocument,
  kStyle,
  kAd,
  kApp,
  kAdTask,
  kPicture,
  kAppTask,
  kPaint,
  kLoaded
};

DependencyGraph blocking_page() {
  DependencyGraph graph;
  graph.nodes.resize(kLoaded + 1);
  for (auto const i : {kDocument, kStyle, kAd, kApp, kPicture}) {
    graph.nodes[i] = {.name = "https://a.test/" + std::to_string(i), .method = "GET"};
  }
  graph.nodes[kAdTask] = {.kind = DependencyNodeKind::kTask, .url = graph.nodes[kAd].name};
  graph.nodes[kAppTask] = {.kind = DependencyNodeKind::kTask, .url = graph.nodes[kApp].name};
  graph.nodes[kPaint] = {.kind = DependencyNodeKind::kMilestone, .name = "first contentful paint"};
  graph.nodes[kLoaded] = {.kind = DependencyNodeKind::kMilestone, .name = "load event"};
  auto const add = [&](Node from, Node to, DependencyKind kind,
                       DependencyAfter after = DependencyAfter::kEnd) {
    graph.edges.push_back(
        {.from = from, .to = to, .kind = kind, .after = after, .evidence = {.named = true}});
  };
  for (auto const to : {kStyle, kAd, kApp}) {
    add(kDocument, to, DependencyKind::kParser, DependencyAfter::kFirstByte);
  }
  add(kAd, kAdTask, DependencyKind::kInitiator);
  add(kStyle, kAdTask, DependencyKind::kStyle);
  add(kAdTask, kPicture, DependencyKind::kInitiator, DependencyAfter::kStart);
  add(kApp, kAppTask, DependencyKind::kInitiator);
  add(kAdTask, kAppTask, DependencyKind::kScriptOrder);
  for (auto const from : {kStyle, kAd, kAdTask, kAppTask}) {
    add(from, kPaint, DependencyKind::kMilestone);
  }
  for (auto const from : {kAd, kAdTask, kPicture}) add(from, kLoaded, DependencyKind::kMilestone);
  sort_edges(graph.edges);
  return graph;
}

using Waits = std::vector<std::pair<std::uint32_t, DependencyAfter>>;

Waits waits_of(const DependencyGraph& graph, std::uint32_t node) {
  Waits waits;
  auto const [begin, end] = graph.edges_to(node);
  for (auto const* edge = begin; edge != end; ++edge) waits.emplace_back(edge->from, edge->after);
  return waits;
}

DependencyGraph with(ScriptLoading loading) {
  auto const graph = blocking_page();
  std::vector<NodeChange> changes(graph.nodes.size());
  changes[kAd].loading = loading;
  return changed_graph(graph, changes);
}

constexpr auto kStart = DependencyAfter::kStart;
constexpr auto kEnd = DependencyAfter::kEnd;

TEST(ChangedGraph, IsTheSameWithoutAnotherLoading) {
  auto const graph = blocking_page();
  EXPECT_EQ(changed_graph(graph, std::vector<NodeChange>(graph.nodes.size())).edges, graph.edges);
}

TEST(ChangedGraph, LetsNothingWaitForAnAsyncScriptButWhatItAsksFor) {
  auto const graph = with(ScriptLoading::kAsync);
  using Wait = std::pair<std::uint32_t, DependencyAfter>;
  EXPECT_THAT(waits_of(graph, kAdTask), ElementsAre(Wait(kAd, kEnd))) << "not for the style sheet";
  EXPECT_THAT(waits_of(graph, kPicture), ElementsAre(Wait(kAdTask, kStart)));
  EXPECT_THAT(waits_of(graph, kAppTask), ElementsAre(Wait(kAd, kStart), Wait(kApp, kEnd)));
  EXPECT_THAT(waits_of(graph, kPaint), ElementsAre(Wait(kStyle, kEnd), Wait(kAd, kStart),
                                                   Wait(kAd, kStart), Wait(kAppTask, kEnd)));
  EXPECT_EQ(waits_of(graph, kLoaded), waits_of(blocking_page(), kLoaded));
}

TEST(ChangedGraph, LeavesWhatAScriptMayCauseBehindIt) {
  auto graph = blocking_page();
  for (DependencyEdge& edge : graph.edges) {
    if (edge.to == kAppTask) edge.evidence = {.steady = true};
  }
  std::vector<NodeChange> changes(graph.nodes.size());
  changes[kAd].loading = ScriptLoading::kAsync;
  EXPECT_THAT(waits_of(changed_graph(graph, changes), kAppTask),
              testing::Contains(std::pair<std::uint32_t, DependencyAfter>(kAdTask, kEnd)));
}

TEST(ChangedGraph, LetsListenersOfTheDocumentWaitForDeferredScripts) {
  auto graph = blocking_page();
  graph.nodes[kAppTask].function = "ready";
  for (auto const [loading, waits] :
       {std::pair(ScriptLoading::kAsync, false), std::pair(ScriptLoading::kDefer, true)}) {
    std::vector<NodeChange> changes(graph.nodes.size());
    changes[kAd].loading = loading;
    auto const waited_for = waits_of(changed_graph(graph, changes), kAppTask);
    EXPECT_EQ(std::ranges::count(waited_for, std::pair(std::uint32_t{kAdTask}, kEnd)), waits);
  }
}

TEST(ChangedGraph, LetsListenersOfAnAsyncScriptWaitForTheDocument) {
  auto graph = blocking_page();
  graph.nodes[kAppTask].function = "ready";
  std::vector<NodeChange> changes(graph.nodes.size());
  changes[kApp].loading = ScriptLoading::kAsync;
  using Wait = std::pair<std::uint32_t, DependencyAfter>;
  EXPECT_THAT(waits_of(changed_graph(graph, changes), kAppTask),
              ElementsAre(Wait(kApp, kEnd), Wait(kAdTask, kEnd)));
}

TEST(ChangedGraph, RunsADeferredScriptAfterItsDocument) {
  auto const graph = with(ScriptLoading::kDefer);
  using Wait = std::pair<std::uint32_t, DependencyAfter>;
  EXPECT_THAT(waits_of(graph, kAdTask),
              ElementsAre(Wait(kDocument, kEnd), Wait(kStyle, kEnd), Wait(kAd, kEnd)));
  EXPECT_THAT(waits_of(graph, kAppTask), ElementsAre(Wait(kAd, kStart), Wait(kApp, kEnd)));
}

TEST(ChangedGraph, RunsADeferredScriptAfterThoseInTheDocument) {
  auto graph = blocking_page();
  // What was the application's task is a script in the document now, which followed the ad's.
  graph.nodes[kAppTask].url = graph.nodes[kDocument].name;
  std::vector<NodeChange> changes(graph.nodes.size());
  changes[kAd].loading = ScriptLoading::kDefer;
  using Wait = std::pair<std::uint32_t, DependencyAfter>;
  auto const of_ad = [&] { return waits_of(changed_graph(graph, changes), kAdTask); };
  EXPECT_THAT(of_ad(), testing::Contains(Wait(kAppTask, kEnd)));
  auto const edges = graph.edges;
  graph.edges.push_back({.from = kPicture, .to = kAppTask});
  sort_edges(graph.edges);
  EXPECT_THAT(of_ad(), testing::Not(testing::Contains(Wait(kAppTask, kEnd))))
      << "the ad asks for the picture, which that script waits for";
  graph.edges = edges;
  graph.nodes[kAppTask].function = "(anonymous)";
  EXPECT_THAT(of_ad(), testing::Not(testing::Contains(Wait(kAppTask, kEnd)))) << "a timer's";
}

TEST(ChangedGraph, KnowsThatAScriptInTheDocumentMayNeedTheOneBeforeIt) {
  auto graph = blocking_page();
  PageChange const change{
      .parts = {{.nodes = {kAd, kApp}, .change = {.loading = ScriptLoading::kDefer}}}};
  EXPECT_THAT(scripts_before_inline_ones(graph, change), testing::IsEmpty());
  graph.nodes[kAppTask].url = graph.nodes[kDocument].name;  // is in the document now
  EXPECT_THAT(scripts_before_inline_ones(graph, change), ElementsAre(kAd));
  std::swap(graph.nodes[kAdTask].url, graph.nodes[kAppTask].url);
  EXPECT_THAT(scripts_before_inline_ones(graph, change), testing::IsEmpty()) << "it comes before";
  std::swap(graph.nodes[kAdTask].url, graph.nodes[kAppTask].url);
  EXPECT_THAT(scripts_before_inline_ones(graph, {.parts = {{.nodes = {kAd}}}}), testing::IsEmpty());
}

TEST(ChangedGraph, KnowsTheDocumentOfAScriptThatWasFoundAfterOneInIt) {
  auto graph = blocking_page();
  // What was the style sheet is a script in the document now, after which the ad is found.
  graph.nodes[kStyle] = {.kind = DependencyNodeKind::kTask, .url = graph.nodes[kDocument].name};
  for (DependencyEdge& edge : graph.edges) {
    if (edge.from == kDocument && edge.to == kAd) edge.from = kStyle;
  }
  sort_edges(graph.edges);
  std::vector<NodeChange> changes(graph.nodes.size());
  changes[kAd].loading = ScriptLoading::kDefer;
  EXPECT_THAT(waits_of(changed_graph(graph, changes), kAdTask),
              testing::Contains(std::pair<std::uint32_t, DependencyAfter>(kDocument, kEnd)));
}

TEST(ChangedGraph, LetsNoBackgroundImageWaitForADeferredScript) {
  auto graph = blocking_page();
  std::erase_if(graph.edges, [](const DependencyEdge& edge) { return edge.to == kPicture; });
  graph.edges.push_back({.from = kStyle, .to = kPicture, .kind = DependencyKind::kStyle});
  graph.edges.push_back({.from = kAdTask,
                         .to = kPicture,
                         .kind = DependencyKind::kScriptOrder,
                         .evidence = {.named = true}});
  sort_edges(graph.edges);
  std::vector<NodeChange> changes(graph.nodes.size());
  changes[kAd].loading = ScriptLoading::kDefer;
  EXPECT_THAT(waits_of(changed_graph(graph, changes), kPicture),
              testing::UnorderedElementsAre(std::pair(kStyle, DependencyAfter::kEnd),
                                            std::pair(kAd, DependencyAfter::kStart)));
}

}  // namespace
}  // namespace reprise
