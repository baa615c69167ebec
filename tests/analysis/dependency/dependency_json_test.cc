#include "analysis/dependency/dependency_json.h"

#include <gmock/gmock.h>

#include "analysis/dependency/learn.h"
#include "base/system/text_file.h"
#include "tests/analysis/dependency/generated_page.h"

namespace reprise {
namespace {

std::string fault(std::string_view nodes, std::string_view edges) {
  auto const graph =
      read_dependency_graph(R"({"schema":"reprise-dependency/1","nodes":[)" + std::string(nodes) +
                            R"(],"edges":[)" + std::string(edges) + "]}");
  return graph ? "read" : graph.error();
}

constexpr std::string_view kTwoNodes =
    R"({"kind":"request","name":"a"},{"kind":"request","name":"b"})";

TEST(DependencyJson, ComesBackAsItWas) {
  auto const page = generate_page(3);
  auto const found = search_dependencies(page, simulate_loads(page, {}, 1, 5), 1).graph;
  auto const text = dependency_graph_json(found);
  auto const read = read_dependency_graph(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->edges, found.edges);
  EXPECT_EQ(read->nodes.size(), found.nodes.size());
  EXPECT_EQ(dependency_graph_json(*read), text);
}

TEST(DependencyJson, SaysWhatWasNotKept) {
  DependencyGraph graph;
  EXPECT_THAT(dependency_graph_json(graph), testing::Not(testing::HasSubstr("not_kept")));
  graph.nodes_not_kept = 3;
  graph.edges_not_kept = 17;
  auto const read = read_dependency_graph(dependency_graph_json(graph));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->nodes_not_kept, 3U);
  EXPECT_EQ(read->edges_not_kept, 17U);
}

TEST(DependencyJson, ReadsTheExampleOfItsPage) {
  auto const page = read_text_file(DEPENDENCY_PAGE, 1 << 20);
  ASSERT_TRUE(page);
  auto const begin = page->find("    {\"schema\"");
  auto const text = page->substr(begin, page->find("\n\n", begin) - begin);
  auto const graph = read_dependency_graph(text);
  ASSERT_TRUE(graph) << graph.error();
  EXPECT_EQ(graph->nodes.size(), 4);
  EXPECT_EQ(graph->edges.size(), 3);
}

TEST(DependencyJson, NamesThePlaceOfAFault) {
  EXPECT_EQ(fault(kTwoNodes, R"({"from":0,"to":1,"kind":"parser","after":"end"})"), "read");
  EXPECT_EQ(fault(kTwoNodes, R"({"from":1,"to":1,"kind":"parser","after":"end"})"),
            "edges[0].from must be less than to");
  EXPECT_EQ(fault(kTwoNodes, R"({"from":0,"to":2,"kind":"parser","after":"end"})"),
            "edges[0].to is not a node");
  EXPECT_EQ(fault(kTwoNodes, R"({"from":0,"to":4294967297,"kind":"parser","after":"end"})"),
            "edges[0].to is out of range");
  EXPECT_EQ(fault(kTwoNodes, R"({"from":0,"to":1,"kind":"bandwidth","after":"end"})"),
            "edges[0].kind is not a kind of dependency");
  EXPECT_EQ(fault(kTwoNodes, R"({"from":0,"to":1,"kind":"parser","after":"later"})"),
            "edges[0].after must be start, sent, first byte or end");
  EXPECT_EQ(
      fault(kTwoNodes, R"({"from":0,"to":1,"kind":"parser","after":"end","evidence":["hearsay"]})"),
      "edges[0].evidence must be named, steady or held back");
  EXPECT_EQ(fault(kTwoNodes, R"({"from":0,"to":1,"kind":"parser","after":"end","gap_us":-1e12})"),
            "edges[0].gap_us is over a day");
  EXPECT_EQ(fault(kTwoNodes, R"({"from":0,"to":1,"kind":"parser","after":"end"},)"
                             R"({"from":0,"to":1,"kind":"parser","after":"end","gap_us":5})"),
            "edges[1].from is that of an equal edge");
  EXPECT_EQ(fault(R"({"kind":"robot","name":"a"})", ""),
            "nodes[0].kind must be request, task or milestone");
  EXPECT_EQ(fault(R"({"kind":"milestone","name":"lunch"})", ""),
            "nodes[0].name is not the name of a milestone");
  EXPECT_EQ(fault(R"({"kind":"request","name":"a"},{"kind":"request","name":"a"})", ""),
            "nodes[1].occurrence is that of an equal node");
  EXPECT_EQ(fault(R"({"kind":"request","name":"a","start_us":5,"end_us":4})", ""),
            "nodes[0].end_us is before start_us");
  EXPECT_EQ(fault(R"({"kind":"request","name":"a","end_us":86400000001})", ""),
            "nodes[0].end_us is over a day");
}

TEST(DependencyJson, RefusesWhatIsNoGraph) {
  EXPECT_FALSE(read_dependency_graph("["));
  EXPECT_EQ(read_dependency_graph("[]").error(), "not a JSON object");
  EXPECT_EQ(read_dependency_graph(R"({"schema":"reprise-dependency/2"})").error(),
            "schema must be reprise-dependency/1");
  std::string many = R"({"schema":"reprise-dependency/1","nodes":[)";
  for (std::size_t i = 0; i <= DependencyGraph::kNodesMax; ++i) many += i == 0 ? "{}" : ",{}";
  EXPECT_EQ(read_dependency_graph(many + "]}").error(),
            "nodes must not have more than 4000 elements");
}

}  // namespace
}  // namespace reprise
