#include "analysis/spans/span_forest.h"

#include <gmock/gmock.h>

#include <numeric>

#include "analysis/contribution/share.h"
#include "tests/analysis/spans/span_fixture.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

/// "name start-end in parent" of each call.
std::vector<std::string> texts_of(const CallTree& tree) {
  std::vector<std::string> texts;
  for (const Call& call : tree.calls) {
    auto text = call.name + " " + std::to_string(call.start_us) + "-" + std::to_string(call.end_us);
    if (call.parent != kNoParent) text += " in " + tree.calls[call.parent].name;
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(SpanForest, IsATreeForEachRoot) {
  SpanSet set;
  set.spans = {span_of(3, 2, 1020, 1080, "SELECT cart", "client"), span_of(9, 0, 500, 501, "cron"),
               span_of(2, 1, 1010, 1090, "render"),
               span_of(1, 7, 1000, 1100, "GET /cart", "server"), span_of(4, 1, 1005, 1008, "auth")};
  set.spans[3].place = "eu-1";
  std::vector<CallLoss> losses;
  auto const trees = trees_of(set, losses);
  ASSERT_THAT(trees, SizeIs(2));
  EXPECT_THAT(texts_of(trees[0]), ElementsAre("cron 0-1000"));
  EXPECT_THAT(texts_of(trees[1]),
              ElementsAre("GET /cart 0-100000", "auth 5000-8000 in GET /cart",
                          "render 10000-90000 in GET /cart", "SELECT cart 20000-80000 in render"));
  EXPECT_EQ(trees[1].page, "GET /cart");
  EXPECT_EQ(trees[1].started_unix_ms, 1000);
  EXPECT_EQ(trees[1].window_us, 100'000);
  EXPECT_THAT(trees[1].tags, ElementsAre(Pair("endpoint", "GET /cart"), Pair("place", "eu-1"),
                                         Pair("service", "shop")));
  EXPECT_EQ(trees[1].calls[3].attribute("service"), "shop");
  EXPECT_EQ(trees[1].calls[3].attribute("endpoint"), "SELECT cart");
  auto const shares = share_evenly(trees[1]);
  EXPECT_THAT(shares.calls, ElementsAre(17'000, 3'000, 20'000, 60'000));
  EXPECT_THAT(losses, IsEmpty());
}

TEST(SpanForest, KeepsTracesApart) {
  SpanSet set;
  set.spans = {span_of(1, 0, 0.1, 1), span_of(2, 1, 0.2, 0.5)};
  set.spans[1].trace_id = id_of(7) + id_of(7);
  EXPECT_THAT(forest_of(set).roots, ElementsAre(0, 1));
}

TEST(SpanForest, PutsTheServersHalfOfACallIntoTheCallers) {
  SpanSet set;
  set.spans = {span_of(2, 1, 30, 60, "get", "server"), span_of(3, 2, 35, 50, "query"),
               span_of(2, 1, 20, 70, "get", "client"), span_of(1, 0, 10, 90, "page", "server")};
  auto const forest = forest_of(set);
  EXPECT_THAT(forest.roots, ElementsAre(3));
  EXPECT_THAT(forest.inside,
              ElementsAre(ElementsAre(1), IsEmpty(), ElementsAre(0), ElementsAre(2)));
}

TEST(SpanForest, LosesRepeatedSpansAndCircles) {
  SpanSet set;
  set.spans = {span_of(1, 0, 10, 90), span_of(1, 0, 10, 90), span_of(2, 3, 20, 30),
               span_of(3, 2, 20, 30), span_of(4, 4, 20, 30)};
  std::vector<CallLoss> losses;
  EXPECT_THAT(trees_of(set, losses), SizeIs(1));
  EXPECT_THAT(losses, ElementsAre(Field(&CallLoss::count, 1), Field(&CallLoss::count, 3)));
}

TEST(SpanForest, CutsSpansAtTheViewsStart) {
  SpanSet set;
  set.spans = {span_of(1, 0, 10, 20, "page"), span_of(2, 1, 5, 30, "queue")};
  std::vector<CallLoss> losses;
  auto const trees = trees_of(set, losses);
  EXPECT_THAT(texts_of(trees.at(0)), ElementsAre("page 0-10000", "queue 0-20000 in page"));
  EXPECT_THAT(trees[0].losses, ElementsAre(Field(&CallLoss::count, 1)));
}

}  // namespace
}  // namespace reprise
