#include "analysis/dependency/page_nodes.h"

#include <gmock/gmock.h>

#include "tests/analysis/dependency/observed_trees.h"

namespace reprise {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const DependencyGraph& graph) {
  std::vector<std::string> names;
  for (DependencyNode const& node : graph.nodes) names.push_back(node.label());
  return names;
}

TEST(PageNodes, LeaveOutValuesThatAreOthersInEachLoad) {
  std::vector<ObservedPage> const loads = {
      written_load({{"https://a.test/x?id=1&cb=70", "Fetch", 0, 5, 9, ""},
                    {"https://a.test/x?id=2&cb=71", "Fetch", 10, 15, 19, ""}}),
      written_load({{"https://a.test/x?id=1&cb=80", "Fetch", 2, 5, 9, ""},
                    {"https://a.test/x?id=2&cb=81", "Fetch", 12, 15, 19, ""}})};
  auto const graph = find_nodes(loads);
  EXPECT_THAT(labels(graph),
              ElementsAre("GET https://a.test/x?id=1&cb=*", "GET https://a.test/x?id=2&cb=*"));
  EXPECT_EQ(graph.nodes[0].loads, 2);
  EXPECT_EQ(graph.nodes[0].start_us, 1000);

  auto const other = place_nodes(
      graph, written_load({{"https://a.test/x?id=2&cb=99", "Fetch", 30, 35, 39, "", "200", 32},
                           {"https://a.test/x?id=3&cb=99", "Fetch", 40, 45, 49, ""},
                           {"https://a.test/x?id=2", "Fetch", 40, 45, 49, ""}}));
  EXPECT_FALSE(other[0]);
  ASSERT_TRUE(other[1]);
  EXPECT_EQ(other[1]->start_us, 30'000);
  EXPECT_EQ(other[1]->sent_us, 32'000);
  EXPECT_EQ(other[1]->first_byte_us, 35'000);
  EXPECT_EQ(other[1]->end_us, 39'000);
}

TEST(PageNodes, TellAPathWithAnAmpersandFromAQuery) {
  std::vector<ObservedPage> loads;
  for (int n = 0; n < 3; ++n) {
    WrittenRequest const path{"https://a.test/x&y", "Fetch", 0, 5, 9, ""};
    WrittenRequest const query{"https://a.test/x?y=" + std::to_string(n), "Fetch", 1, 5, 9, ""};
    // In the last load, the families would come in the other order.
    loads.push_back(n < 2 ? written_load({path, query}) : written_load({query, path}));
  }
  auto const graph = find_nodes(loads);
  EXPECT_THAT(labels(graph), ElementsAre("GET https://a.test/x&y", "GET https://a.test/x?y=*"));
  auto const placed = place_nodes(graph, loads[2]);
  EXPECT_TRUE(placed[0] && placed[1]);
}

TEST(PageNodes, KnowTheTasksOfAScriptWhoseQueryVaries) {
  std::vector<ObservedPage> loads;
  for (int n = 0; n < 3; ++n) {
    auto const url = "https://a.test/a.js?n=" + std::to_string(n);
    loads.push_back(written_load({{url, "Script", 0, 5, 9, ""}}));
    add_task(loads.back(), url, 10, 20);
  }
  auto const graph = find_nodes(loads);
  EXPECT_THAT(labels(graph),
              ElementsAre("GET https://a.test/a.js?n=*", "script of https://a.test/a.js?n=*"));
  EXPECT_EQ(place_nodes(graph, loads[1])[1]->end_us, 20'000);
  EXPECT_EQ(requests_by_node(graph.nodes)[1], 0);
}

TEST(PageNodes, CountEqualRequests) {
  auto const load = written_load({{"https://a.test/poll", "Fetch", 0, 5, 9, ""},
                                  {"https://a.test/poll#2", "Fetch", 10, 15, 19, ""}});
  std::vector<ObservedPage> const loads = {load, load};
  EXPECT_THAT(labels(find_nodes(loads)),
              ElementsAre("GET https://a.test/poll", "GET https://a.test/poll #2"));
}

TEST(PageNodes, OccurInHalfOfTheLoads) {
  WrittenRequest const always{"https://a.test/", "Document", 0, 5, 9, ""};
  WrittenRequest const twice{"https://a.test/b", "Image", 6, 7, 9, ""};
  WrittenRequest const once{"https://a.test/c", "Image", 6, 7, 9, ""};
  std::vector<ObservedPage> const loads = {written_load({always, twice, once}),
                                           written_load({always, twice}), written_load({always})};
  EXPECT_THAT(labels(find_nodes(loads)),
              ElementsAre("GET https://a.test/", "GET https://a.test/b"));
  EXPECT_EQ(find_nodes(std::span(loads).first(1)).nodes.size(), 3) << "of one load all";
}

TEST(PageNodes, AreTheOutermostTasksOfScriptsAndMilestones) {
  auto load = written_load({{"https://a.test/a.js", "Script", 0, 5, 9, ""}});
  add_task(load, "https://a.test/a.js", 10, 20);
  add_task(load, "https://a.test/a.js", 30, 40);
  load.milestones[static_cast<std::size_t>(Milestone::kLoadEvent)] = 50'000;
  std::vector<ObservedPage> const loads = {load, load};
  auto const graph = find_nodes(loads);
  EXPECT_THAT(labels(graph), ElementsAre("GET https://a.test/a.js", "script of https://a.test/a.js",
                                         "script of https://a.test/a.js #2", "load event"));
  auto const placed = place_nodes(graph, load);
  EXPECT_EQ(placed[2]->start_us, 30'000);
  EXPECT_EQ(placed[2]->end_us, 40'000);
  EXPECT_EQ(placed[3]->start_us, 50'000);
}

TEST(PageNodes, AreAtMostTheFirstFourThousandWithTheMilestones) {
  ObservedPage load;
  load.milestones[static_cast<std::size_t>(Milestone::kLoadEvent)] = 9'000'000;
  for (std::int64_t i = 0; i < 4002; ++i) {
    Call call{.name = "https://a.test/" + std::to_string(i), .start_us = i, .end_us = i};
    load.calls.calls.push_back(std::move(call));
  }
  auto const graph = find_nodes({&load, 1});
  EXPECT_EQ(graph.nodes.size(), 4000);
  EXPECT_EQ(graph.nodes_not_kept, 3);
  EXPECT_EQ(graph.nodes[3998].name, "https://a.test/3998");
  EXPECT_EQ(graph.nodes.back().name, "load event");
}

}  // namespace
}  // namespace reprise
