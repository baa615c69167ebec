#include "tools/why/timeline_report.h"

#include <gmock/gmock.h>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/sources/load_calls.h"

namespace reprise {
namespace {

PageRequest script_between(std::string url, double start_ms, double end_ms) {
  PageRequest made{.url = std::move(url), .method = "GET"};
  made.resource_type = "Script";
  made.start_ms = start_ms;
  made.end_ms = end_ms;
  return made;
}

TimelineSide side_of(std::vector<PageRequest> requests, double load_event_ms) {
  auto result = std::make_unique<LoadResult>();
  LoadResult::Load load;
  load.page.url = load.page.final_url = "https://a.test/";
  load.page.requests = std::move(requests);
  load.page.load_event_ms = load_event_ms;
  result->loads.push_back(std::move(load));
  std::vector<CallLoss> losses;
  auto calls = calls_of(*result, losses);
  auto timeline = LoadTimeline::of(result->loads[0].page, std::move(calls.at(0).tree));
  return {.name = "a.json#1",
          .result = std::move(result),
          .timeline = std::move(timeline),
          .request = {}};
}

TEST(TimelineReport, HasRowsByStartAndNoTimeOfWhatNeverEnded) {
  auto const a = side_of(
      {script_between("https://a.test/", 0, 100), script_between("https://a.test/poll", 20, 3000),
       script_between("https://a.test/app.js", 100, 150)},
      160);
  auto const b = side_of(
      {script_between("https://a.test/", 0, 100), script_between("https://a.test/poll", 20, -1),
       script_between("https://a.test/app.js", 100, 550)},
      560);
  auto const json =
      timeline_json({.a = a, .b = b, .found = compare_timelines(a.timeline, b.timeline)});
  auto const& rows = json.at("rows").as_array();
  std::vector<std::string> urls_by_row;
  for (auto const& row : rows) urls_by_row.emplace_back(row.at("b").at("url").as_string());
  EXPECT_THAT(urls_by_row, testing::ElementsAre("https://a.test/", "https://a.test/poll",
                                                "https://a.test/app.js"));
  EXPECT_EQ(rows.at(1).at("a").at("end_ms").as_double(), 3000);
  EXPECT_TRUE(rows.at(1).at("b").at("end_ms").is_null());
  EXPECT_EQ(rows.at(1).at("b").at("start_ms").as_double(), 20);
  ASSERT_FALSE(json.at("causes").as_array().empty());
  for (auto const* const list : {"causes", "no_effect_shown"}) {
    for (auto const& cause : json.at(list).as_array()) {
      auto const row = cause.at("rows").as_array().at(0).to_number<std::size_t>();
      auto const& differences = cause.at("groups").as_array().at(0).at("differences").as_array();
      for (auto const& each : differences) {
        EXPECT_EQ(std::string(each.at("where").as_string()), urls_by_row.at(row));
      }
      EXPECT_TRUE(std::string(cause.at("groups").as_array().at(0).at("title").as_string())
                      .starts_with(urls_by_row.at(row)));
    }
  }
}

}  // namespace
}  // namespace reprise
