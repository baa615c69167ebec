#include "analysis/timelines/timelines.h"

#include <gmock/gmock.h>

#include <numeric>

#include "analysis/sources/load_calls.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PageRequest a_request(std::string url, double start_ms, double first_byte_ms, double end_ms,
                      std::string initiator = {}) {
  PageRequest made{.url = std::move(url), .method = "GET"};
  made.resource_type = "Script";
  made.status = 200;
  made.protocol = "h2";
  made.initiator = std::move(initiator);
  made.start_ms = start_ms;
  made.end_ms = end_ms;
  made.timing = RequestTiming{
      .send_start_ms = start_ms, .send_end_ms = start_ms, .first_byte_ms = first_byte_ms};
  return made;
}

/// A document, then a script of it; `late_ms` later with a slow server.
LoadResult::Load a_load(double late_ms = 0) {
  LoadResult::Load load;
  load.page.url = load.page.final_url = "https://a.test/";
  load.page.requests = {
      a_request("https://a.test/", 0, 80, 100),
      a_request("https://a.test/app.js", 100, 150 + late_ms, 160 + late_ms, "https://a.test/"),
      a_request("https://a.test/small.js", 100, 110, 120, "https://a.test/")};
  load.page.load_event_ms = 170 + late_ms;
  return load;
}

LoadTimeline timeline(const LoadResult::Load& load) {
  LoadResult result;
  result.loads = {load};
  std::vector<CallLoss> losses;
  return LoadTimeline::of(load.page, calls_of(result, losses).at(0).tree);
}

std::int64_t sum_of_changes(const TimelineDifference& of) {
  return std::accumulate(
      of.requests.begin(), of.requests.end(), of.gaps.change_us(),
      [](std::int64_t sum, const RequestCost& cost) { return sum + cost.time.change_us(); });
}

TEST(Timelines, ASlowServerCostsWhatTheLoadTookLonger) {
  auto const a = a_load();
  auto const b = a_load(300);
  auto const found = compare_timelines(timeline(a), timeline(b));
  EXPECT_EQ(found.window.change_us(), 300'000);
  ASSERT_EQ(found.requests.size(), 3u);
  auto const& first = found.requests[0];
  EXPECT_EQ(first.a, 1u);
  EXPECT_EQ(first.b, 1u);
  EXPECT_EQ(first.time.change_us(), 300'000);
  ASSERT_EQ(first.phases.size(), 2u);
  EXPECT_EQ(first.phases[0].name, "wait");
  EXPECT_EQ(first.phases[0].time.change_us(), 300'000);
  EXPECT_EQ(sum_of_changes(found), 300'000);
}

TEST(Timelines, WhatIsOffTheChainCostsNothing) {
  auto const a = a_load();
  auto b = a_load();
  b.page.requests[2].end_ms = 155;
  auto const found = compare_timelines(timeline(a), timeline(b));
  for (auto const& cost : found.requests) EXPECT_EQ(cost.time.change_us(), 0);
  EXPECT_EQ(sum_of_changes(found), 0);
}

TEST(Timelines, ARequestMoreAndOtherPagesSumUp) {
  auto const a = a_load();
  auto b = a_load();
  b.page.requests.push_back(
      a_request("https://b.test/more.js", 160, 400, 460, "https://a.test/app.js"));
  b.page.load_event_ms = 500;
  auto found = compare_timelines(timeline(a), timeline(b));
  EXPECT_FALSE(found.requests[0].a);
  EXPECT_EQ(found.requests[0].b, 3u);
  EXPECT_EQ(sum_of_changes(found), 330'000);

  for (auto& request : b.page.requests) request.url.replace(8, 1, "c");
  found = compare_timelines(timeline(a), timeline(b));
  EXPECT_EQ(found.requests.size(), 7u);
  EXPECT_EQ(sum_of_changes(found), 330'000);
}

TEST(Timelines, AnIntervalHasWhatIsInIt) {
  auto const a = a_load();
  auto const b = a_load(300);
  auto const found =
      compare_timelines(timeline(a).within(0, 200'000), timeline(b).within(0, 200'000));
  EXPECT_EQ(found.window.a_us, 170'000);
  EXPECT_EQ(found.window.b_us, 200'000);
  EXPECT_EQ(found.requests[0].b, 1u);
  EXPECT_EQ(found.requests[0].time.b_us, 100'000);
  EXPECT_EQ(sum_of_changes(found), 30'000);
}

TEST(Timelines, AnIntervalKnowsWhichOfRequestsWithOneUrlItHas) {
  auto a = a_load();
  a.page.requests[2].url = a.page.requests[1].url;
  a.page.requests[2].start_ms = 165;
  a.page.requests[2].timing.reset();
  a.page.requests[2].end_ms = 168;
  auto const part = timeline(a).within(162'000, 170'000);
  auto const found = compare_timelines(part, part);
  for (auto const& cost : found.requests) {
    EXPECT_EQ(cost.time.a_us, cost.a == 2u ? 3'000 : 0);
  }
  EXPECT_EQ(found.gaps.a_us, 5'000);
}

TEST(Timelines, TwoRequestsAreComparedByTheirPhases) {
  auto const a = a_load();
  auto b = a_load(300);
  auto& request = b.page.requests[1];
  request.protocol = "http/1.1";
  request.timing->connect_start_ms = 100;
  request.timing->connect_end_ms = 130;
  request.timing->send_start_ms = request.timing->send_end_ms = 130;
  auto const found = compare_requests(timeline(a), 1, timeline(b), 1);
  EXPECT_EQ(found.window.a_us, 60'000);
  EXPECT_EQ(found.window.b_us, 360'000);
  std::vector<std::string> names;
  for (auto const& phase : found.requests[0].phases) names.push_back(phase.name);
  EXPECT_THAT(names, ElementsAre("connect", "wait", "receive"));
  EXPECT_EQ(found.requests[0].phases[0].time.change_us(), 30'000);
  EXPECT_THAT(found.requests[0].facts, ElementsAre("protocol http/1.1 instead of h2",
                                                   "a new connection instead of one in use"));
}

TEST(Timelines, ARequestWithoutPhasesIsOneTime) {
  auto a = a_load();
  a.page.requests[1].timing.reset();
  auto const found = compare_requests(timeline(a), 1, timeline(a), 2);
  ASSERT_EQ(found.requests[0].phases.size(), 3u);
  EXPECT_EQ(found.requests[0].phases.back().name, "request");
  EXPECT_EQ(found.requests[0].phases.back().time.a_us, 60'000);
  EXPECT_EQ(found.requests[0].phases.back().time.b_us, 0);
  EXPECT_THAT(found.requests[0].facts.front(), HasSubstr("small.js instead of"));
}

}  // namespace
}  // namespace reprise
