#include "pageload/run/replay_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr auto kPage = "https://a.test/";

/// A page that the browser says it has loaded: its document and one image.
PageLoad loaded_page() {
  return {.url = kPage,
          .final_url = kPage,
          .requests = {{.url = kPage, .method = "GET"},
                       {.url = "https://a.test/image", .method = "GET"}},
          .load_event_ms = 120,
          .cumulative_layout_shift = 0.1,
          .encoded_bytes = 900,
          .request_count = 2};
}

ReplaySummary report_with_miss(const std::string& url) {
  return {.hits = 1, .misses = 1, .distinct_misses = {{"GET", url, "no such path"}}};
}

TEST(AddReplayReport, TakesHitsAndMissesFromTheReport) {
  auto page = loaded_page();
  add_replay_report(page, {.hits = 2, .misses = 0});
  EXPECT_EQ(page.outcome, LoadOutcome::kLoaded);
  EXPECT_EQ(page.hits, 2);
  EXPECT_EQ(page.misses, 0);
  EXPECT_THAT(page.browser_requests, Optional(IsEmpty()));
}

/// Of a load from 1000 to 3000 ms by the monotonic clock.
std::optional<double> lateness_of_load(const LinkSummary::LatenessGrowth& growth) {
  auto page = loaded_page();
  page.machine = MachineActivity{.span_ms = 2000, .began_ms = 1000};
  ReplaySummary report{.hits = 2, .misses = 0};
  report.link.emplace().lateness_growth = growth;
  add_replay_report(page, report);
  return page.lateness_ms;
}

TEST(AddReplayReport, TakesWhatLatePacketsCostTheLoadAlone) {
  // Before it: the load that filled the cache. After it: what the page does when it has loaded.
  EXPECT_EQ(
      lateness_of_load(
          {.resolution_ms = 0.5, .at_ms = {500, 1500, 2500, 9000}, .cost_ms = {40, 42, 45, 90}}),
      5.5);
  EXPECT_EQ(lateness_of_load({.at_ms = {500, 1500}, .cost_ms = {40, 42}}), 2);
  EXPECT_EQ(lateness_of_load({.at_ms = {1000, 3000}, .cost_ms = {40, 42}}), 2);
  EXPECT_EQ(lateness_of_load({.resolution_ms = 0.5, .at_ms = {9000}, .cost_ms = {50}}), 0.5);
  EXPECT_EQ(lateness_of_load({.resolution_ms = 0.5, .at_ms = {9000}, .cost_ms = {0.25}}), 0.25);
  EXPECT_EQ(lateness_of_load({}), 0);
  // Lists of different lengths are another program's.
  EXPECT_EQ(lateness_of_load({.at_ms = {1500}, .cost_ms = {}}), 0);
}

TEST(DropLatenessGrowth, LeavesTheRestOfTheReport) {
  ReplaySummary report;
  report.whole =
      boost::json::parse(R"({"hits":2,"link":{"lateness":{"cost_ms":7,"growth":{}}}})").as_object();
  report.link.emplace().lateness_cost_ms = 3.5;
  report.link->lateness_growth = LinkSummary::LatenessGrowth{.at_ms = {1}, .cost_ms = {3.5}};
  drop_lateness_growth(report);
  EXPECT_FALSE(report.link->lateness_growth);
  EXPECT_EQ(report.link->lateness_cost_ms, 3.5);
  constexpr auto kLeft = R"({"hits":2,"link":{"lateness":{"cost_ms":7}}})";
  EXPECT_EQ(boost::json::serialize(report.whole), kLeft);
  drop_lateness_growth(report);
  EXPECT_EQ(boost::json::serialize(report.whole), kLeft);
  ReplaySummary other;
  other.whole["link"] = nullptr;
  drop_lateness_growth(other);
  EXPECT_EQ(boost::json::serialize(other.whole), R"({"link":null})");
}

TEST(AddReplayReport, KnowsNoLatenessOfTheLoadWithoutItsMoments) {
  auto page = loaded_page();
  ReplaySummary report{.hits = 2, .misses = 0};
  report.link.emplace().lateness_cost_ms = 90;
  add_replay_report(page, report);
  EXPECT_EQ(page.lateness_ms, std::nullopt);
  page.machine = MachineActivity{.span_ms = 2000, .began_ms = 1000};
  add_replay_report(page, report);
  EXPECT_EQ(page.lateness_ms, std::nullopt);
}

TEST(AddReplayReport, RejectsAPageThatTheReplayWasNotAskedFor) {
  auto page = loaded_page();
  ReplaySummary const report{
      .hits = 0, .misses = 0, .special_answers = {{"browser", "POST", "https://safe.test/"}}};
  add_replay_report(page, report);
  EXPECT_EQ(page.outcome, LoadOutcome::kNotInArchive);
  EXPECT_THAT(page.failure, testing::HasSubstr("did not ask the replay"));
  EXPECT_EQ(page.load_event_ms, std::nullopt);
  EXPECT_EQ(page.cumulative_layout_shift, std::nullopt);
}

TEST(AddReplayReport, KeepsALoadThatTheReplayWasAskedForOrDoesNotTell) {
  for (ReplaySummary const& report :
       {ReplaySummary{.hits = 1, .misses = 0}, ReplaySummary{.hits = 0, .misses = 1},
        ReplaySummary{
            .hits = 0, .misses = 0, .special_answers = {{"stitched", "GET", "https://a.test/"}}},
        ReplaySummary{}}) {
    auto page = loaded_page();
    add_replay_report(page, report);
    EXPECT_EQ(page.outcome, LoadOutcome::kLoaded);
  }
}

TEST(AddReplayReport, KeepsAFailureThatTheBrowserReportsItself) {
  auto page = loaded_page();
  page.outcome = LoadOutcome::kTimedOut;
  add_replay_report(page, {.hits = 0, .misses = 0});
  EXPECT_EQ(page.outcome, LoadOutcome::kTimedOut);
}

TEST(AddReplayReport, KeepsALoadWhoseImageIsMissing) {
  auto page = loaded_page();
  add_replay_report(page, report_with_miss("https://a.test/image"));
  EXPECT_EQ(page.outcome, LoadOutcome::kLoaded);
  EXPECT_EQ(page.load_event_ms, 120);
  EXPECT_EQ(page.misses, 1);
  EXPECT_THAT(page.browser_requests, Optional(IsEmpty())) << "the page asked for it";
}

TEST(AddReplayReport, RejectsAPageWhoseDocumentIsMissing) {
  auto page = loaded_page();
  add_replay_report(page, report_with_miss(kPage));
  EXPECT_EQ(page.outcome, LoadOutcome::kNotInArchive);
  EXPECT_EQ(page.failure, "The archive has no answer for https://a.test/: no such path.");
  EXPECT_EQ(page.load_event_ms, std::nullopt);
  EXPECT_EQ(page.cumulative_layout_shift, std::nullopt);
  EXPECT_EQ(page.encoded_bytes, 900) << "what was sent was sent";
  EXPECT_EQ(page.request_count, 2);
}

TEST(AddReplayReport, RejectsAPageThatWasLedToAMissingOne) {
  auto page = loaded_page();
  page.final_url = "https://a.test/login#form";
  add_replay_report(page, report_with_miss("https://a.test/login"));
  EXPECT_EQ(page.outcome, LoadOutcome::kNotInArchive);
}

TEST(AddReplayReport, KeepsALoadThatMissedAFetchOfAnAddressThatItPushed) {
  constexpr auto kItem = "https://a.test/item";
  auto page = loaded_page();
  page.final_url = "https://a.test/item#top";
  page.requests.push_back({.url = kItem, .method = "GET", .resource_type = "Fetch"});
  add_replay_report(page, report_with_miss(kItem));
  EXPECT_EQ(page.outcome, LoadOutcome::kLoaded);
  EXPECT_EQ(page.load_event_ms, 120);
  page.requests.push_back({.url = kItem, .method = "GET", .resource_type = "Document"});
  add_replay_report(page, report_with_miss(kItem));
  EXPECT_EQ(page.outcome, LoadOutcome::kNotInArchive) << "it went there";
}

TEST(AddReplayReport, FindsAPageThatWasAskedForWithAFragment) {
  PageLoad page{.url = "https://a.test/#top"};
  add_replay_report(page, report_with_miss(kPage));
  EXPECT_EQ(page.outcome, LoadOutcome::kNotInArchive);
}

TEST(AddReplayReport, RejectsAPageWhoseLongUrlTheReportCuts) {
  auto const url = kPage + std::string(kReportTextMax, 'x');
  auto const cut_url = url.substr(0, kReportTextMax) + "...";
  PageLoad page{.url = url, .final_url = url, .requests = {{.url = url, .method = "GET"}}};
  add_replay_report(page, report_with_miss(cut_url));
  EXPECT_EQ(page.outcome, LoadOutcome::kNotInArchive);
  EXPECT_EQ(page.failure, "The archive has no answer for " + cut_url + ": no such path.");
}

TEST(AddReplayReport, KeepsALoadThatMissedAPostToItsOwnAddress) {
  auto page = loaded_page();
  add_replay_report(page, {.misses = 1, .distinct_misses = {{"POST", kPage, "no such method"}}});
  EXPECT_EQ(page.outcome, LoadOutcome::kLoaded);
}

TEST(AddReplayReport, TellsTheBrowsersOwnRequestsFromThePages) {
  auto page = loaded_page();
  ReplaySummary const report{.distinct_misses = {{"GET", "https://a.test/image", "no such path"},
                                                 {"GET", "http://update.test/", "no such host"}},
                             .special_answers = {{"browser", "POST", "https://safe.test/"},
                                                 {"preflight", "OPTIONS", "https://a.test/api"}},
                             .missing_names = {"sync.test"}};
  add_replay_report(page, report);
  EXPECT_THAT(
      page.browser_requests,
      Optional(ElementsAre("GET http://update.test/", "POST https://safe.test/", "DNS sync.test")));
}

TEST(AddReplayReport, KnowsThePagesWebSocketsAndLongUrls) {
  auto page = loaded_page();
  auto const long_url = "https://a.test/?" + std::string(5000, 'x');
  auto const cut_url = long_url.substr(0, kReportTextMax) + "...";
  page.requests.push_back({.url = "wss://a.test/socket", .method = "GET"});
  page.requests.push_back({.url = long_url, .method = "GET"});
  ReplaySummary const report{
      .distinct_misses = {{"CONNECT", "https://a.test/socket", "no such path"},
                          {"GET", cut_url, "no such path"},
                          {"CONNECT", "https://b.test/socket", "no such host"}}};
  add_replay_report(page, report);
  EXPECT_THAT(page.browser_requests, Optional(ElementsAre("CONNECT https://b.test/socket")));
}

TEST(LinesForPeople, AreThoseOfTheProgram) {
  EXPECT_EQ(lines_for_people("replaying a.reprise\nreprise: first\n  reprise: no\nreprise: last"),
            "reprise: first\nreprise: last\n");
  EXPECT_EQ(lines_for_people("reprise:no\n"), "");
}

}  // namespace
}  // namespace reprise
