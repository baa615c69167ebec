#include "analysis/dependency/dependency_graph.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/analysis/dependency/compared_closures.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Pair;

DependencyGraph graph_of(std::vector<std::string> names, std::vector<DependencyEdge> edges) {
  DependencyGraph graph;
  for (auto& name : names) graph.nodes.push_back({.name = std::move(name), .method = "GET"});
  graph.edges = std::move(edges);
  sort_edges(graph.edges);
  return graph;
}

/// The join of edges to node 4 from nodes that happen at their place times 10; node 3 is unknown.
std::optional<std::int64_t> joined(std::vector<DependencyEdge> edges) {
  for (DependencyEdge& edge : edges) edge.to = 4;
  sort_edges(edges);
  return join_moments(edges.data(), edges.data() + edges.size(), [](const DependencyEdge& edge) {
    return edge.from == 3 ? std::nullopt : std::optional<std::int64_t>(edge.from * 10);
  });
}

TEST(DependencyGraph, JoinsByTheLatestAndAlternativesByTheEarliest) {
  EXPECT_EQ(joined({}), std::nullopt);
  EXPECT_EQ(joined({{.from = 1}}), 10);
  EXPECT_EQ(joined({{.from = 1}, {.from = 2}}), 20);
  EXPECT_EQ(joined({{.from = 1, .alternative = 1}, {.from = 2, .alternative = 1}}), 10);
  EXPECT_EQ(joined({{.from = 1, .alternative = 1}, {.from = 2, .alternative = 1}, {.from = 0}}),
            10);
  EXPECT_EQ(joined({{.from = 0, .alternative = 1}, {.from = 2, .alternative = 2}}), 20);
  EXPECT_EQ(joined({{.from = 3}}), std::nullopt);
  EXPECT_EQ(joined({{.from = 3, .alternative = 1}, {.from = 2, .alternative = 1}}), 20);
}

TEST(DependencyGraph, NamesItsJoins) {
  auto const graph = graph_of({"a", "b", "c", "d", "e"}, {{.from = 0, .to = 1},
                                                          {.from = 0, .to = 2},
                                                          {.from = 1, .to = 2},
                                                          {.from = 1, .to = 3, .alternative = 1},
                                                          {.from = 2, .to = 3, .alternative = 1},
                                                          {.from = 0, .to = 4},
                                                          {.from = 1, .to = 4, .alternative = 1},
                                                          {.from = 2, .to = 4, .alternative = 1}});
  EXPECT_EQ(graph.join(0), DependencyJoin::kSequence);
  EXPECT_EQ(graph.join(1), DependencyJoin::kSequence);
  EXPECT_EQ(graph.join(2), DependencyJoin::kAllOf);
  EXPECT_EQ(graph.join(3), DependencyJoin::kFirstOf);
  EXPECT_EQ(graph.join(4), DependencyJoin::kMixed);
}

TEST(DependencyGraph, LosesTheEarliestScriptsWhereItHasTooManyEdges) {
  constexpr std::uint32_t kScripts = 400;
  constexpr std::uint32_t kImages = 300;
  DependencyGraph graph;
  graph.nodes.resize(kScripts + kImages + 1);
  std::uint32_t const milestone = kScripts + kImages;
  graph.nodes[milestone] = {.kind = DependencyNodeKind::kMilestone, .name = "load event"};
  std::vector<DependencyEdge> edges;
  for (std::uint32_t image = kScripts; image < milestone; ++image) {
    edges.push_back({.from = 0, .to = image, .kind = DependencyKind::kParser});
    for (std::uint32_t script = 1; script < kScripts; ++script) {
      edges.push_back({.from = script, .to = image, .kind = DependencyKind::kScriptOrder});
    }
  }
  for (std::uint32_t from = 0; from < milestone; ++from) {
    edges.push_back({.from = from, .to = milestone, .kind = DependencyKind::kMilestone});
  }
  auto const count = edges.size();
  graph.take_edges(std::move(edges));
  EXPECT_LE(graph.edges.size(), DependencyGraph::kEdgesMax);
  EXPECT_GT(graph.edges.size(), DependencyGraph::kEdgesMax - kImages) << "no more than needed";
  EXPECT_EQ(graph.edges_not_kept, count - graph.edges.size());
  auto const waits_of = [&graph](std::uint32_t node) {
    auto const [begin, end] = graph.edges_to(node);
    std::vector<std::uint32_t> from;
    for (auto const* edge = begin; edge != end; ++edge) from.push_back(edge->from);
    return from;
  };
  EXPECT_EQ(waits_of(milestone).size(), milestone);
  for (auto const image : {kScripts, milestone - 1}) {
    auto const from = waits_of(image);
    ASSERT_GT(from.size(), 300U);
    EXPECT_EQ(from.front(), 0U) << "its document";
    EXPECT_GT(from[1], 1U) << "the first scripts are lost";
    EXPECT_EQ(from.back(), kScripts - 1);
  }
  graph.take_edges({{.from = 0, .to = 1}});
  EXPECT_EQ(graph.edges_not_kept, 0U);
}

TEST(DependencyGraph, ComparesClosures) {
  auto const truth = graph_of({"a", "b", "c", "x"}, {{.from = 0, .to = 1}, {.from = 1, .to = 2}});
  // The same pairs by other edges, and one pair that is wrong; x is unknown.
  auto found = graph_of(
      {"a", "b", "c", "d"},
      {{.from = 0, .to = 1}, {.from = 0, .to = 2}, {.from = 1, .to = 2}, {.from = 0, .to = 3}});
  auto same = compare_closures(truth, found);
  EXPECT_EQ(same.both, 3);
  EXPECT_EQ(same.precision(), 1) << "d is not compared";
  EXPECT_EQ(same.recall(), 1);

  found = graph_of({"a", "b", "c"}, {{.from = 0, .to = 2}, {.from = 1, .to = 2}});
  auto const less = compare_closures(truth, found);
  EXPECT_EQ(less.both, 2);
  EXPECT_EQ(less.precision(), 1);
  EXPECT_DOUBLE_EQ(less.recall(), 2. / 3);
  EXPECT_THAT(less.only_truth, ElementsAre(Pair("GET a", "GET b")));

  auto const more = compare_closures(found, truth);
  EXPECT_DOUBLE_EQ(more.precision(), 2. / 3);
  EXPECT_THAT(more.only_found, ElementsAre(Pair("GET a", "GET b")));
}

TEST(DependencyGraph, DoesNotCountConnectionsInTheClosure) {
  auto const graph =
      graph_of({"a", "b"}, {{.from = 0, .to = 1, .kind = DependencyKind::kConnection}});
  EXPECT_FALSE(DependencyClosure(graph).follows(1, 0));
}

}  // namespace
}  // namespace reprise
