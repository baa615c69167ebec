#include "analysis/contribution/explanation.h"

#include <gmock/gmock.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <random>

#include "tests/analysis/contribution/call_trees.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Pair;

KindRules rules() {
  return KindRules::parse("slow: host=slow.test\nrest:\ngaps: thinking\nfix slow: Hurry.\n")
      .value();
}

/// A view of one request of `us`, in a window a millisecond longer.
GivenView view(const char* url, std::int64_t us, std::vector<Attribute> tags = {},
               std::optional<double> started = std::nullopt) {
  CallTree tree{.page = "https://page.test/", .started_unix_ms = started, .window_us = us + 1000};
  tree.tags = std::move(tags);
  tree.calls.push_back({.name = url, .end_us = us});
  return {.tree = std::move(tree)};
}

/// The mean shares of a slice in us, by kind.
std::map<std::string, double> shares(const Slice& slice) {
  std::map<std::string, double> out;
  for (MeanShare const& each : slice.shares) out[rules().kinds()[each.kind].name] = each.us;
  return out;
}

TEST(Explain, GivesTheMeanOfItsViewsByKindAndCall) {
  std::vector<GivenView> const views = {view("https://slow.test/a?1", 9'000),
                                        view("https://slow.test/a?2", 5'000),
                                        view("https://page.test/", 1'000)};
  auto const explanation = explain(views, rules(), Entities(), {});
  ASSERT_EQ(explanation.slices.size(), 1u);
  Slice const& all = explanation.slices[0];
  EXPECT_EQ(all.views, 3u);
  EXPECT_DOUBLE_EQ(all.mean_us, 6'000);
  EXPECT_EQ(all.median_us, 6'000);
  EXPECT_EQ(all.max_us, 10'000);
  EXPECT_EQ(all.min_us, 2'000);
  EXPECT_NEAR(shares(all).at("slow"), 14'000 / 3.0, .01);
  EXPECT_DOUBLE_EQ(shares(all).at("thinking"), 1'000);
  ASSERT_EQ(all.calls.size(), 3u);
  EXPECT_EQ(all.calls[0].name, "https://slow.test/a");
  EXPECT_EQ(all.calls[0].count, 2u);
  EXPECT_EQ(all.calls[0].longest_us, 9'000);
  EXPECT_EQ(all.calls[1].name, "nothing in flight");
}

TEST(Explain, SaysHowManySlicesItDoesNotShow) {
  std::vector<GivenView> views;
  for (std::size_t i = 0; i < Explanation::kSlicesMax + 3; ++i) {
    views.push_back(view("https://slow.test/", 1'000, {{"place", std::to_string(i)}}));
  }
  auto const explanation = explain(views, rules(), Entities(), {.by = {"place"}});
  EXPECT_EQ(explanation.slices.size(), Explanation::kSlicesMax + 1);
  ASSERT_EQ(explanation.losses.size(), 1u);
  EXPECT_EQ(explanation.losses[0].count, 3u);
}

TEST(Explain, HasTheMeanSizeOfACallsRequests) {
  std::vector<GivenView> views = {view("https://slow.test/a", 9'000),
                                  view("https://slow.test/a", 5'000)};
  views[0].tree.calls[0].set("bytes", "1000");
  views[1].tree.calls[0].set("bytes", "3000");
  // Its phases are of the same request.
  views[1].tree.calls.push_back({.kind = CallKind::kPhase, .name = "wait", .parent = 0});
  views[1].tree.calls.push_back({.kind = CallKind::kPhase, .name = "receive", .parent = 0});
  views[1].tree.calls[1].end_us = views[1].tree.calls[2].start_us = 2'000;
  views[1].tree.calls[2].end_us = 5'000;
  auto const explanation = explain(views, rules(), Entities(), {});
  ASSERT_EQ(explanation.slices.size(), 1u);
  EXPECT_EQ(explanation.slices[0].calls[0].name, "https://slow.test/a");
  EXPECT_EQ(explanation.slices[0].calls[0].bytes, 2'000);
}

TEST(Explain, TakesTheSlowestOfEachSlice) {
  std::vector<GivenView> views;
  for (int i = 1; i <= 10; ++i) {
    views.push_back(view("https://slow.test/", i * 1'000, {{"network", i % 2 == 0 ? "4g" : "3g"}}));
  }
  auto const explanation =
      explain(views, rules(), Entities(), {.by = {"network"}, .slowest_percent = 20});
  ASSERT_EQ(explanation.slices.size(), 3u);
  EXPECT_EQ(explanation.slices[0].views, 2u);
  EXPECT_EQ(explanation.slices[0].min_us, 10'000);
  EXPECT_THAT(explanation.slices[1].tags, ElementsAre(Pair("network", "3g")));
  EXPECT_EQ(explanation.slices[1].views, 1u);
  EXPECT_EQ(explanation.slices[1].max_us, 10'000);
  EXPECT_EQ(explanation.slices[2].max_us, 11'000);
}

TEST(Explain, ShowsThePointsOfAllSlicesWithTheSlicesThatTheyCountIn) {
  std::vector<GivenView> views;
  for (int i = 1; i <= 10; ++i) {
    views.push_back(view("https://slow.test/", i * 1'000, {{"network", i > 8 ? "3g" : "4g"}}));
  }
  auto const explanation =
      explain(views, rules(), Entities(), {.by = {"network"}, .slowest_percent = 20});
  ASSERT_EQ(explanation.slices.size(), 3u);
  std::vector<std::pair<std::int64_t, std::vector<std::size_t>>> points;
  for (ExplainedView const& point : explanation.points) {
    points.emplace_back(point.given->tree.window_us, point.slices);
  }
  // Of all views 10 and 9, of 4g 8 and 7, of 3g 10.
  EXPECT_THAT(points, ElementsAre(Pair(11'000, ElementsAre(0u, 2u)), Pair(10'000, ElementsAre(0u)),
                                  Pair(9'000, ElementsAre(1u)), Pair(8'000, ElementsAre(1u))));
  auto const json = to_json(explanation, rules(), {.by = {"network"}}, {});
  EXPECT_EQ(boost::json::serialize(json.at("points").at(0).at("slices")), "[0,2]");
}

TEST(Explain, TakesTheSlowestByTheWholeLoadTimeOfAView) {
  auto quick = view("https://slow.test/", 3'000);
  auto slow = view("https://slow.test/", 1'000);
  quick.load_us = 5'000;
  slow.load_us = 90'000;
  auto slowest = view("https://slow.test/", 2'000);
  slowest.load_us = 95'000;
  std::vector<GivenView> const views = {quick, slow, slowest};
  auto const explanation = explain(views, rules(), Entities(), {.slowest_percent = 60});
  Slice const& all = explanation.slices.at(0);
  EXPECT_EQ(all.views, 2u);
  EXPECT_EQ(all.max_us, 3'000);
  EXPECT_EQ(all.median_us, 2'000);
  EXPECT_EQ(all.min_us, 2'000);
}

TEST(Explain, HasATrendByDay) {
  constexpr double kMorning = 1'795'000'000'000;  // 2026-11-18
  std::vector<GivenView> const views = {view("https://a.test/", 3'000, {}, kMorning + 86'400'000),
                                        view("https://a.test/", 1'000, {}, kMorning),
                                        view("https://a.test/", 2'000)};
  auto const explanation = explain(views, rules(), Entities(), {.trend = true});
  ASSERT_EQ(explanation.trend.size(), 2u);
  EXPECT_THAT(explanation.trend[0].tags, ElementsAre(Pair("day", "2026-11-18")));
  EXPECT_EQ(explanation.trend[1].max_us, 4'000);
}

TEST(Explain, SumsToTheMeanOfTheWindows) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  std::vector<GivenView> views;
  for (int i = 0; i < 500; ++i) views.push_back({.tree = random_tree(random)});
  auto const explanation = explain(views, KindRules::standard(), Entities(), {});
  Slice const& all = explanation.slices[0];
  double own = 0;
  double chain = 0;
  for (MeanShare const& each : all.shares) {
    own += each.us;
    chain += each.chain_us;
  }
  EXPECT_NEAR(own, all.mean_us, 1e-6);
  EXPECT_NEAR(chain, all.mean_us, 1e-6);
  double calls = 0;
  for (CallShare const& each : all.calls) calls += each.share.us;
  EXPECT_NEAR(calls, all.mean_us, 1e-6);
}

TEST(Explain, ShowsPointsOfAllSpeeds) {
  std::vector<GivenView> views;
  for (int i = 0; i < 5'000; ++i) views.push_back(view("https://a.test/", i));
  auto const explanation = explain(views, rules(), Entities(), {});
  ASSERT_EQ(explanation.points.size(), Explanation::kPointsMax);
  EXPECT_EQ(explanation.points.front().given->tree.window_us, 5'999);
  EXPECT_EQ(explanation.points.back().given->tree.window_us, 1'000);
}

TEST(ExplanationJson, HasWhatItsPageSays) {
  std::vector<GivenView> const views = {view("https://slow.test/a?1", 9'000, {{"network", "4g"}})};
  ExplainOptions const options{.by = {"network"}};
  auto const explanation = explain(views, rules(), Entities(), options);
  auto const json = to_json(explanation, rules(), options,
                            {.inputs = {{.name = "a.json", .views = 1, .in_view = 1}},
                             .views_read = 4,
                             .where = "network=4g"});
  EXPECT_EQ(json.at("inputs").at(0).at("in_view"), 1);
  EXPECT_EQ(json.at("views_read"), 4);
  EXPECT_EQ(json.at("where"), "network=4g");
  EXPECT_TRUE(json.at("slowest_percent").is_null());
  EXPECT_EQ(json.at("kinds").at(0).at("fix"), "Hurry.");
  auto const& slice = json.at("slices").at(1);
  EXPECT_EQ(slice.at("tags").at("network"), "4g");
  EXPECT_EQ(slice.at("shares").at(0).at("us"), 9'000);
  EXPECT_EQ(slice.at("shares").at(0).at("percent"), 90.0);
  EXPECT_EQ(slice.at("calls").at(0).at("name"), "https://slow.test/a");
  auto const& point = json.at("points").at(0);
  EXPECT_EQ(json.at("names").at(point.at("page").as_uint64()), "https://page.test/");
  EXPECT_EQ(point.at("calls").at(0).at(5), 9'000);
}

}  // namespace
}  // namespace reprise
