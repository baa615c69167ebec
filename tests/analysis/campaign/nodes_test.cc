#include "analysis/campaign/nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace reprise {
namespace {

using ::testing::HasSubstr;

/// Eight load events around a time.
NodeCheck node_at(const std::string& name, double ms) {
  NodeCheck check{.plan = "p", .node = name};
  for (int load = 0; load < 8; ++load) {
    check.load_events_ms.push_back(ms * (1 + 0.004 * ((load * 5) % 8 - 3.5)));
  }
  return check;
}

std::vector<std::string> names_of(const std::vector<RefusedNode>& refused) {
  std::vector<std::string> out;
  for (const RefusedNode& each : refused) out.push_back(each.node);
  return out;
}

TEST(Nodes, ThatAreAlikeMayAllMeasure) {
  std::vector<NodeCheck> const nodes{node_at("n1", 1000), node_at("n2", 1010), node_at("n3", 990)};
  EXPECT_TRUE(refused_nodes(nodes).empty());
}

TEST(Nodes, ASlowOneIsNamedAndTheOthersAreNot) {
  std::vector<NodeCheck> const nodes{node_at("n1", 1000), node_at("n2", 1600), node_at("n3", 990)};
  auto const refused = refused_nodes(nodes);
  ASSERT_EQ(names_of(refused), std::vector<std::string>{"n2"});
  EXPECT_THAT(refused[0].why, HasSubstr("+6"));
}

TEST(Nodes, TwoSlowOnesOfFiveAreNamed) {
  std::vector<NodeCheck> const nodes{node_at("n1", 1000), node_at("n2", 1600), node_at("n3", 990),
                                     node_at("n4", 1005), node_at("n5", 3000)};
  EXPECT_EQ(names_of(refused_nodes(nodes)), (std::vector<std::string>{"n2", "n5"}));
}

TEST(Nodes, OfTwoTheSlowerOneIsNamed) {
  std::vector<NodeCheck> const nodes{node_at("n1", 1600), node_at("n2", 1000)};
  EXPECT_EQ(names_of(refused_nodes(nodes)), std::vector<std::string>{"n1"});
}

TEST(Nodes, OneWithoutABrowserIsRefusedForThatReason) {
  std::vector<NodeCheck> nodes{node_at("n1", 1000), node_at("n2", 1000)};
  nodes[1].load_events_ms.clear();
  nodes[1].problems = {"no usable chromium; fix: apt"};
  auto const refused = refused_nodes(nodes);
  ASSERT_EQ(names_of(refused), std::vector<std::string>{"n2"});
  EXPECT_THAT(refused[0].why, HasSubstr("fix: apt"));
}

TEST(Nodes, CheckIsReadBack) {
  auto check = node_at("n1", 1000);
  check.clock_ahead_s = -3600;
  check.browsers = {"chromium: 156"};
  check.machine.cores = 2;
  auto const text = boost::json::serialize(to_json(check));
  auto const again = read_node_check(text).value();
  EXPECT_EQ(boost::json::serialize(to_json(again)), text);
  EXPECT_EQ(again.clock_ahead_s, -3600);
  EXPECT_FALSE(read_node_check("{}"));
  EXPECT_FALSE(read_node_check("["));
}

}  // namespace
}  // namespace reprise
