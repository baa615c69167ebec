#include "analysis/trench/trench_json.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TrenchTrace read(std::string_view text) {
  auto trace = read_trench_json(text);
  EXPECT_TRUE(trace) << trace.error();
  return std::move(trace).value_or(TrenchTrace{});
}

std::string fault(std::string_view text) {
  auto const trace = read_trench_json(text);
  return trace ? "none" : trace.error();
}

/// A trace with this stack; its point 0 is "A.a".
std::string with_stack(std::string_view stack) {
  return R"({"stack":)" + std::string(stack) +
         R"(,"classes":["A"],"points":[[0,"a",7],[0,"b",-1]]})";
}

/// The example of TRENCH.md.
constexpr std::string_view kShop =
    R"({"version":1,"stackColumns":["point","hits","ms","children"],)"
    R"("stack":[[0,1,443,[1]],[1,3,199.5,[]]],"classesColumns":["name"],"classes":[["shop.Cart"]],)"
    R"("pointsColumns":["class","method","line"],"points":[[0,"show",12],[0,"tax",-1]]})";

TEST(TrenchJson, IsReadAndWritten) {
  auto const trace = read(kShop);
  EXPECT_THAT(trace.points, ElementsAre(TrenchPoint{"shop.Cart", "show", 12},
                                        TrenchPoint{"shop.Cart", "tax", -1}));
  EXPECT_THAT(trace.nodes,
              ElementsAre(TrenchNode{.point = 0, .hits = 1, .inclusive_us = 443'000},
                          TrenchNode{.point = 1, .hits = 3, .inclusive_us = 199'500, .caller = 0}));
  EXPECT_EQ(trench_json(trace), kShop);
}

TEST(TrenchJson, HasColumnsInAnyOrder) {
  auto const trace =
      read(R"({"stackColumns":["children","ms","note","point","hits"],"stack":[[[],0.25,"x",0,2]],)"
           R"("classesColumns":["file","name"],"classes":[["a.js","A"]],)"
           R"("pointsColumns":["line","method","class"],"points":[[3,"a",0]]})");
  EXPECT_THAT(trace.points, ElementsAre(TrenchPoint{"A", "a", 3}));
  EXPECT_THAT(trace.nodes, ElementsAre(TrenchNode{.point = 0, .hits = 2, .inclusive_us = 250}));
}

TEST(TrenchJson, CanHaveRowsInsideRowsOrBeforeTheirCallers) {
  auto const nested = read(with_stack("[[0,1,9,[[1,2,5,[[0,1,1,[]]]],[1,1,2,[]]]],[1,1,1,[]]]"));
  auto const placed =
      read(with_stack("[[0,1,1,[]],[1,2,5,[0]],[0,1,9,[1,3]],[1,1,2,[]],[1,1,1,[]]]"));
  EXPECT_EQ(nested, placed);
  std::vector<std::uint32_t> callers;
  for (auto const& node : nested.nodes) callers.push_back(node.caller);
  auto const none = TrenchNode::kNoCaller;
  EXPECT_THAT(callers, ElementsAre(none, 0, 1, 0, none));
}

TEST(TrenchJson, SaysWhatIsWrong) {
  EXPECT_THAT(fault("{"), HasSubstr("not JSON"));
  EXPECT_EQ(fault("[]"), "not a JSON object");
  EXPECT_EQ(fault(with_stack("[7]")), "stack[0] must be an array");
  EXPECT_EQ(fault(with_stack("[[2,1,1,[]]]")), "stack[0] has a point that is not there");
  EXPECT_EQ(fault(with_stack("[[0,-1,1,[]]]")), "stack[0]: hits must be a whole number");
  EXPECT_EQ(fault(with_stack("[[0,1,-1,[]]]")), "stack[0]: ms must be a number from 0 to a day");
  EXPECT_EQ(fault(with_stack("[[0,1,86400001,[]]]")),
            "stack[0]: ms must be a number from 0 to a day");
  EXPECT_EQ(fault(with_stack("[[0,1,1,5]]")), "stack[0]: children must be an array");
  EXPECT_EQ(fault(with_stack("[[0,1,1,[1]]]")), "stack[0] has a child that is not there");
  EXPECT_EQ(fault(with_stack("[[0,1,1,[[5,1,1,[]]]]]")),
            "a row in stack[0] has a point that is not there");
  EXPECT_EQ(fault(R"({"classes":[7]})"), "classes[0] must have a name");
  EXPECT_EQ(fault(R"({"points":[[0,"a",1]]})"), "points[0] has a class that is not there");
  EXPECT_EQ(fault(R"({"classes":["A"],"points":[[0,1,1]]})"), "points[0] must have a method");
}

TEST(TrenchJson, HasNoCircles) {
  EXPECT_EQ(fault(with_stack("[[0,1,1,[0]]]")), "stack[0] is its own caller");
  EXPECT_EQ(fault(with_stack("[[0,1,1,[]],[0,1,1,[2]],[0,1,1,[1]]]")),
            "stack[1] is its own caller");
  EXPECT_EQ(fault(with_stack("[[0,1,1,[2]],[0,1,1,[2]],[1,1,1,[]]]")),
            "stack[2] is called by stack[0] and by stack[1]");
}

TEST(TrenchJson, NestsOnlySoDeep) {
  auto const nested = [](std::size_t depth) {
    std::string stack;
    for (std::size_t i = 0; i < depth; ++i) stack += "[[0,1,1,";
    stack += "[]";
    for (std::size_t i = 0; i < depth; ++i) stack += "]]";
    return with_stack(stack);
  };
  EXPECT_THAT(read(nested(TrenchTrace::kDepthMax)).nodes, SizeIs(TrenchTrace::kDepthMax));
  EXPECT_EQ(fault(nested(TrenchTrace::kDepthMax + 1)),
            "a row in stack[0] is nested deeper than 512 rows");
  EXPECT_EQ(fault(nested(100'000)), "nested deeper than 512 rows");
}

TEST(TrenchJson, HasOnlySoManyRows) {
  std::string rows = "[[0,1,1]";
  for (std::size_t i = 0; i < TrenchTrace::kNodesMax; ++i) rows += ",[0,1,1]";
  EXPECT_EQ(fault(with_stack(rows + "]")), "more than 1,000,000 rows");
  auto const repeated = [](std::string_view one, std::size_t times) {
    std::string list(one);
    for (std::size_t i = 1; i < times; ++i) list.append(",").append(one);
    return list;
  };
  auto const beyond = TrenchTrace::kNodesMax + 1;
  EXPECT_EQ(fault(R"({"classes":[)" + repeated(R"("")", beyond) + "]}"),
            "more than 1,000,000 classes");
  EXPECT_EQ(fault(R"({"classes":["A"],"points":[)" + repeated(R"([0,"a"])", beyond) + "]}"),
            "more than 1,000,000 points");
  rows.resize(std::size_t{17} << 20, ' ');
  EXPECT_EQ(fault(rows), "the JSON is longer than 16 MiB");
}

TEST(TrenchJson, HasNamesOfALimitedLength) {
  std::string const longest(TrenchTrace::kNameBytesMax, 'x');
  auto const with_name = [](std::string_view name) {
    return R"({"classes":[")" + std::string(name) + R"("],"points":[[0,")" + std::string(name) +
           R"(",7]]})";
  };
  auto point = read(with_name(longest)).points.at(0);
  EXPECT_EQ(point, (TrenchPoint{longest, longest, 7}));
  point = read(with_name(longest + "x")).points.at(0);
  EXPECT_EQ(point.method, longest.substr(0, longest.size() - 3) + "…");
  EXPECT_EQ(point.class_name, point.method);
  std::string odd;
  for (std::size_t i = 0; i < longest.size(); ++i) odd += "é";
  point = read(with_name(odd)).points.at(0);
  EXPECT_EQ(point.method, odd.substr(0, longest.size() - 4) + "…");
  EXPECT_EQ(read(trench_json({.points = {point}, .nodes = {}})).points.at(0), point);
}

/// A class whose name is copied into each of a million points would be terabytes.
TEST(TrenchJson, RepeatsNoLongNameWithoutEnd) {
  std::string text = R"({"classes":[")" + std::string(8 << 20, 'x') + R"("],"points":[[0,""])";
  auto const points = TrenchTrace::kAllNamesBytesMax / TrenchTrace::kNameBytesMax;
  for (std::size_t i = 1; i < points; ++i) text += R"(,[0,""])";
  EXPECT_THAT(read(text + "]}").points, SizeIs(points));
  EXPECT_EQ(fault(text + R"(,[0,""]]})"),
            "the names of its points are longer than 128 MiB together");
}

}  // namespace
}  // namespace reprise
