#include "tools/compare/comparison_text.h"

#include <gmock/gmock.h>

#include "analysis/metric.h"
#include "tools/compare/comparison_junit.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Loads of about `ms`, of which each two have the seed of a link, if `with_seeds`.
Measurements four_loads(double ms, bool with_seeds) {
  auto const load_event = parse_metrics("load").value().front();
  Measurements all;
  all.replays.resize(1);
  for (std::size_t i = 0; i < 4; ++i) {
    LoadRow row{.url = "https://a.test/", .loaded = true, .replay = 0};
    row.metrics[load_event] = ms + static_cast<double>(i);
    if (with_seeds) row.link_seed = i / 2;
    all.loads.push_back(std::move(row));
  }
  return all;
}

std::string compared_text(bool with_seeds) {
  CompareOptions const options{.metrics = parse_metrics("load").value()};
  return comparison_text(
      compare(four_loads(1000, with_seeds), four_loads(1500, with_seeds), options), options);
}

TEST(ComparisonText, SaysHowManyLoadsAreNeededWhereFewMayBeCompared) {
  // 2/70 of four against four, and 2/36 in two twos: the level is 5 %.
  EXPECT_THAT(compared_text(false), HasSubstr("different: load event"));
  EXPECT_THAT(compared_text(true),
              HasSubstr("undecided: 4 loads a side cannot show a difference in any of 1 metric: "
                        "make at least 5, "));
  EXPECT_THAT(compared_text(false), Not(HasSubstr("make at least")));
}

TEST(ComparisonText, SaysThatNoLoadHasTheMetric) {
  CompareOptions const options{.metrics = parse_metrics("cls").value()};
  EXPECT_THAT(
      comparison_text(compare(four_loads(1000, false), four_loads(1500, false), options), options),
      HasSubstr("undecided: no load has a value of what is compared. Name another --metric.\n"));
}

/// Loads of another page that have no load event.
void add_page_without_load_event(Measurements& all) {
  for (std::size_t i = 0; i < 4; ++i) {
    all.loads.push_back({.url = "https://b.test/", .loaded = true, .replay = 0});
  }
}

TEST(ComparisonText, NamesAPageWhoseLoadsHaveNoValueOfTheMetric) {
  CompareOptions const options{.metrics = parse_metrics("load").value()};
  auto a = four_loads(1000, false);
  add_page_without_load_event(a);
  auto b = a;
  std::string const reason =
      "no load of https://b.test/ (chromium, recorded, link none, cold) has a value of what is "
      "compared";
  auto const comparison = compare(a, b, options);
  EXPECT_THAT(undecided_reasons(comparison), testing::ElementsAre(reason));
  EXPECT_THAT(comparison_text(comparison, options), HasSubstr("undecided: " + reason + ".\n"));
  EXPECT_THAT(comparison_junit(comparison, options, false, {}),
              HasSubstr("name=\"metrics\">\n      <skipped message=\"no load has a value of what "
                        "is compared\"/>"));

  b.loads.front().metrics[options.metrics.front()] = 1100;
  EXPECT_THAT(comparison_text(compare(a, b, options), options),
              HasSubstr("to call them the same. Besides, " + reason + ".\n"));
}

TEST(ComparisonText, SaysThatTooManyLoadsFailed) {
  CompareOptions const options{.metrics = parse_metrics("load").value(),
                               .all_failed_differ = false};
  auto const a = four_loads(1000, false);
  auto b = a;
  for (int i = 0; i < 2; ++i) {
    b.loads.push_back({.url = "https://a.test/", .failure = "timed-out: ", .replay = 0});
  }
  auto const comparison = compare(a, b, options);
  EXPECT_THAT(comparison_text(comparison, options),
              HasSubstr("undecided: so many loads of https://a.test/ (chromium, recorded, link "
                        "none, cold) failed that the others cannot be called the same (only B has "
                        "loads that failed).\n"));
  EXPECT_TRUE(
      comparison_json(comparison, options).at("pages").as_array().at(0).at("few_count").as_bool());
}

TEST(ComparisonText, NamesNoOptionThatDoesNotHelp) {
  auto const a = four_loads(1000, false);
  auto b = a;
  for (LoadRow& load : b.loads) load.url = "https://b.test/";
  auto const comparison = compare(a, b, {});
  EXPECT_THAT(comparison_text(comparison, {}), HasSubstr("only A has loads of https://a.test/\n"));
  EXPECT_THAT(comparison_text(comparison, {}), Not(HasSubstr("--allow")));
}

TEST(ComparisonText, HasNoFiguresWhereNoLoadsMayBeCompared) {
  CompareOptions const options{.metrics = parse_metrics("load").value()};
  auto a = four_loads(1000, false), b = four_loads(1500, false);
  for (LoadRow& load : a.loads) load.node = "one";
  for (LoadRow& load : b.loads) load.node = "two";
  auto const comparison = compare(a, b, options);
  auto const text = comparison_text(comparison, options);
  EXPECT_THAT(text, Not(HasSubstr("0.0 ms to")));
  EXPECT_THAT(text, HasSubstr("note: https://a.test/: nothing is compared: no node has loads"));
  EXPECT_THAT(text, HasSubstr("undecided: nothing is compared: no node or link seed has loads of "
                              "both A and B.\n"));
  auto const& metric = comparison.pages.at(0).metrics.at(0);
  EXPECT_EQ(metric_summary(metric),
            "load event: not compared: no node or link seed has loads of both A and B");
  auto const json = comparison_json(comparison, options);
  auto const& page = json.at("pages").as_array().at(0);
  EXPECT_EQ(page.at("unpaired").to_number<int>(), 8);
  for (const char* const each : {"shift", "low", "high", "cliffs_delta"}) {
    EXPECT_TRUE(page.at("metrics").as_array().at(0).at(each).is_null()) << each;
  }
}

TEST(ComparisonText, CountsTheLoadsThatMayBeCompared) {
  CompareOptions const options{.metrics = parse_metrics("load").value()};
  auto a = four_loads(1000, false), b = four_loads(1500, false);
  for (LoadRow& load : a.loads) load.node = "one";
  for (LoadRow& load : b.loads) load.node = "two";
  a.loads[0].node = "two";
  EXPECT_THAT(comparison_text(compare(a, b, options), options),
              HasSubstr("undecided: 2 comparable loads a side cannot show a difference"));
}

TEST(ComparisonText, SaysHowManyLoadsAreNeededAtTheLevelOfAGatesLook) {
  CompareOptions options{.metrics = parse_metrics("load").value()};
  auto at_a_look = options;
  at_a_look.level_of = [](double alpha) { return alpha / 5; };
  auto const comparison = compare(four_loads(1000, false), four_loads(1500, false), at_a_look);
  EXPECT_THAT(comparison_text(comparison, options),
              HasSubstr("undecided: 4 loads a side cannot show a difference in any of 1 metric: "
                        "make at least 5, "));
}

}  // namespace
}  // namespace reprise
