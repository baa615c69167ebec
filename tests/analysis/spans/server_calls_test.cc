#include "analysis/spans/server_calls.h"

#include <gmock/gmock.h>

#include "analysis/trench/trench_fields.h"
#include "tests/analysis/trench/trench_field_values.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

/// A request from 0 to 200 us with a wait from 50 to 150.
CallTree request_tree() {
  CallTree tree{.page = "https://shop.test/", .window_us = 200};
  tree.calls = {
      {.kind = CallKind::kRequest, .name = "https://shop.test/", .end_us = 200},
      {.kind = CallKind::kPhase, .name = "send", .start_us = 40, .end_us = 50, .parent = 0},
      {.kind = CallKind::kPhase, .name = "wait", .start_us = 50, .end_us = 150, .parent = 0}};
  return tree;
}

/// "name start-end in parent" of each call from place 3 on.
std::vector<std::string> added(const CallTree& tree) {
  std::vector<std::string> texts;
  for (std::size_t i = 3; i < tree.calls.size(); ++i) {
    const Call& call = tree.calls[i];
    EXPECT_EQ(call.kind, CallKind::kSpan);
    texts.push_back(call.name + " " + std::to_string(call.start_us) + "-" +
                    std::to_string(call.end_us) + " in " + tree.calls[call.parent].name);
  }
  return texts;
}

CallTree with_timing(std::string_view value) {
  auto tree = request_tree();
  std::vector<HeaderView> const head = {{"Server-Timing", value}};
  TraceNames names;
  add_server_calls(tree, 0, wait_of(tree, 0), names, head);
  return tree;
}

TEST(ServerCalls, AreInTheMiddleOfTheWaitOneAfterTheOther) {
  auto const tree = with_timing("db;dur=.03;desc=\"SELECT cart\", app;dur=.05");
  EXPECT_THAT(added(tree), ElementsAre("db 60-90 in wait", "app 90-140 in wait"));
  EXPECT_EQ(tree.calls[3].attribute("description"), "SELECT cart");
  EXPECT_EQ(tree.calls[3].attribute(kSourceAttribute), kFromServerTiming);
  EXPECT_THAT(tree.losses, IsEmpty());
}

TEST(ServerCalls, AreInsideTheTotal) {
  EXPECT_THAT(added(with_timing("db;dur=.03, total;dur=.06, app;dur=.02")),
              ElementsAre("total 70-130 in wait", "db 70-100 in total", "app 100-120 in total"));
}

TEST(ServerCalls, BeginTogetherIfTheyCannotHaveBeenOneAfterTheOther) {
  auto const tree = with_timing("db;dur=.08, app;dur=.3");
  EXPECT_THAT(added(tree), ElementsAre("db 50-130 in wait", "app 50-150 in wait"));
  EXPECT_THAT(tree.losses, ElementsAre(Field(&CallLoss::count, 1)));
}

TEST(ServerCalls, AreNotMadeOfMetricsWithoutADuration) {
  auto const tree = with_timing("cdn-cache;desc=HIT, edge;dur=0");
  EXPECT_THAT(added(tree), IsEmpty());
  EXPECT_EQ(tree.calls[0].attribute("server-timing.cdn-cache"), "HIT");
}

TEST(ServerCalls, AreInARequestWithoutPhases) {
  auto tree = request_tree();
  tree.calls.resize(1);
  EXPECT_EQ(wait_of(tree, 0), 0u);
}

/// Cart.show took 80 us; it called Tax.rate 3 times in 20 us, and Sql.query in 30 us.
TrenchTrace trace() {
  return {.points = {{"Cart", "show", 12}, {"Tax", "rate", -1}, {"", "query", 7}},
          .nodes = {{.point = 0, .hits = 1, .inclusive_us = 80},
                    {.point = 1, .hits = 3, .inclusive_us = 20, .caller = 0},
                    {.point = 2, .hits = 1, .inclusive_us = 30, .caller = 0}}};
}

TEST(ServerCalls, AreOfATraceRatherThanOfServerTiming) {
  auto tree = request_tree();
  auto const values = trench_field_values(trace());
  std::vector<HeaderView> head = {{"Server-Timing", "db;dur=.03"}, {kTrenchField, "url=/t/1"}};
  std::vector<HeaderView> trailers;
  for (auto const& value : values) trailers.push_back({kTrenchField, value});
  TraceNames names;
  add_server_calls(tree, 0, 2, names, head, trailers);
  EXPECT_THAT(added(tree), ElementsAre("Cart.show 60-140 in wait", "Tax.rate 60-80 in Cart.show",
                                       "query 80-110 in Cart.show"));
  EXPECT_EQ(tree.calls[0].attribute("trench-url"), "/t/1");
  EXPECT_EQ(tree.calls[4].attribute("hits"), "3");
  EXPECT_EQ(tree.calls[4].attribute("line"), "");
  EXPECT_EQ(tree.calls[5].attribute("line"), "7");
}

TEST(ServerCalls, SkipATraceWhoseRowsRepeatALongName) {
  auto const size = TrenchTrace::kNameBytesMax;
  TrenchTrace wide{.points = {{std::string(size, 'x'), std::string(size, 'y'), -1}}, .nodes = {}};
  wide.nodes.resize(TrenchTrace::kAllNamesBytesMax / (2 * size) + 1);
  auto tree = request_tree();
  TraceNames names;
  add_trench(tree, 2, wide, names);
  EXPECT_THAT(added(tree), IsEmpty());
  EXPECT_THAT(tree.losses, ElementsAre(Field(&CallLoss::count, wide.nodes.size())));
  EXPECT_EQ(names.bytes, 0U);
}

TEST(ServerCalls, SkipATraceWithWhichTheNamesOfAFileAreTooLong) {
  auto const one = trace();
  TraceNames names;
  auto tree = request_tree();
  add_trench(tree, 2, one, names);
  auto const bytes = names.bytes;
  EXPECT_EQ(bytes, std::string_view("CartshowTaxratequery").size());
  names.bytes = TraceNames::kBytesMax - 2 * bytes + 1;
  add_trench(tree, 2, one, names);
  EXPECT_EQ(added(tree).size(), 2 * one.nodes.size());
  EXPECT_THAT(tree.losses, IsEmpty());
  auto other = request_tree();
  add_trench(other, 2, one, names);
  EXPECT_THAT(added(other), IsEmpty());
  EXPECT_THAT(other.losses, ElementsAre(Field(&CallLoss::count, one.nodes.size())));
  EXPECT_THAT(other.losses[0].what, HasSubstr("256 MiB of names of a file's traces"));
  EXPECT_EQ(names.bytes, TraceNames::kBytesMax - bytes + 1);
}

TEST(ServerCalls, CutATraceThatIsLongerThanTheWait) {
  auto tree = request_tree();
  auto long_trace = trace();
  for (auto& node : long_trace.nodes) node.inclusive_us *= 10;
  TraceNames names;
  add_trench(tree, 2, long_trace, names);
  EXPECT_THAT(added(tree), ElementsAre("Cart.show 50-150 in wait", "Tax.rate 50-150 in Cart.show",
                                       "query 50-150 in Cart.show"));
  EXPECT_THAT(tree.losses, ElementsAre(Field(&CallLoss::count, 3)));
}

TEST(ServerCalls, AreNoMoreThanATreeHolds) {
  auto tree = request_tree();
  TrenchTrace large{.points = {{"A", "a", 1}}, .nodes = {}};
  large.nodes.resize(TrenchTrace::kNodesMax);
  TraceNames names;
  add_trench(tree, 2, large, names);
  EXPECT_THAT(added(tree), IsEmpty());
  EXPECT_THAT(tree.losses, ElementsAre(Field(&CallLoss::count, TrenchTrace::kNodesMax)));
  add_trench(tree, 2, trace(), names);
  EXPECT_EQ(added(tree).size(), 3u) << "a smaller one still has its place";
}

TEST(ServerCalls, SayWhyATraceIsNotThere) {
  auto tree = request_tree();
  std::vector<HeaderView> const head = {{kTrenchField, "0=AAAA"}, {"Server-Timing", "db;dur=.03"}};
  TraceNames names;
  add_server_calls(tree, 0, 2, names, head);
  EXPECT_EQ(tree.calls[0].attribute("trench-error"), "base64lines is missing");
  EXPECT_THAT(added(tree), ElementsAre(HasSubstr("db ")));
  EXPECT_THAT(tree.losses, ElementsAre(Field(&CallLoss::count, 1)));
}

}  // namespace
}  // namespace reprise
