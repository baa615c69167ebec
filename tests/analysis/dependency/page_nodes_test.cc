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

TEST(PageNodes, AreAtMostTheFirstFourThousand) {
  ObservedPage load;
  for (std::int64_t i = 0; i < 4002; ++i) {
    Call call{.name = "https://a.test/" + std::to_string(i), .start_us = i, .end_us = i};
    load.calls.calls.push_back(std::move(call));
  }
  auto const graph = find_nodes({&load, 1});
  EXPECT_EQ(graph.nodes.size(), 4000);
  EXPECT_EQ(graph.nodes_not_kept, 2);
  EXPECT_EQ(graph.nodes.back().name, "https://a.test/3999");
}

}  // namespace
}  // namespace reprise
