#include "tools/predict/answered_nodes.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<whatif::PageRequest> recorded(
    std::initializer_list<std::pair<const char*, const char*>> requests) {
  std::vector<whatif::PageRequest> all;
  for (auto const& [method, url] : requests) {
    whatif::PageRequest request;
    request.method = method;
    request.url = url;
    all.push_back(request);
  }
  return all;
}

struct Node {
  const char* method;
  const char* url;
  std::uint32_t occurrence = 0;
};

DependencyGraph graph_of(std::initializer_list<Node> nodes) {
  DependencyGraph graph;
  for (Node const& each : nodes) {
    DependencyNode node;
    node.method = each.method;
    node.name = each.url;
    node.occurrence = each.occurrence;
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

constexpr const char* kData = "https://a.test/data";

TEST(AnsweredNodes, DifferByTheMethod) {
  auto const graph = graph_of({{"OPTIONS", kData}, {"GET", kData}});
  EXPECT_THAT(answered_nodes(graph, recorded({{"GET", kData}, {"OPTIONS", kData}})),
              ElementsAre(ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(answered_nodes(graph, recorded({{"POST", kData}})), ElementsAre(IsEmpty()));
}

TEST(AnsweredNodes, AreAnsweredInOrderAndTheRestByTheLast) {
  auto const graph =
      graph_of({{"POST", kData}, {"POST", kData, 1}, {"POST", kData, 2}, {"POST", kData, 3}});
  EXPECT_THAT(answered_nodes(graph, recorded({{"POST", kData}, {"POST", kData}})),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3)));
  auto const few = graph_of({{"POST", kData}});
  EXPECT_THAT(answered_nodes(few, recorded({{"POST", kData}, {"POST", kData}})),
              ElementsAre(ElementsAre(0), IsEmpty()));
}

TEST(AnsweredNodes, AreFoundByTheirPatternBeforeTheirPath) {
  auto const graph = graph_of({{"GET", "https://a.test/data?op=list&t=*"},
                               {"GET", "https://a.test/data?op=user&t=*"},
                               {"GET", "https://a.test/ad?n=5"}});
  EXPECT_THAT(answered_nodes(graph, recorded({{"GET", "https://a.test/data?op=user&t=1"},
                                              {"GET", "https://a.test/data?op=list&t=2"},
                                              {"GET", "https://a.test/data?op=none&t=3"},
                                              {"GET", "https://a.test/ad?n=1"}})),
              ElementsAre(ElementsAre(1), ElementsAre(0), IsEmpty(), ElementsAre(2)));
}

}  // namespace
}  // namespace reprise
