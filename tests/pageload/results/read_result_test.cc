#include <gmock/gmock.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fstream>
#include <iterator>

#include "pageload/results/replay_summary.h"
#include "pageload/results/result_file.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string error_of(std::string_view text) {
  auto const read = read_result(text);
  return read ? "" : read.error();
}

/// The result of these fields.
LoadResult result_with(const std::string& fields) {
  auto read = read_result(R"({"schema":"reprise-load/1",)" + fields + "}");
  EXPECT_TRUE(read) << read.error();
  return read.value_or(LoadResult());
}

TEST(ReadResult, KeepsEveryFieldOfAFile) {
  std::ifstream file(FULL_RESULT);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  auto const read = read_result(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(to_json(*read), boost::json::parse(text).as_object());
}

TEST(ReadResult, HasTypedValues) {
  auto const result = read_result_file(FULL_RESULT);
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(result->seed, 18446744073709551557U);
  EXPECT_EQ(result->settings.timeout, std::chrono::seconds(30));
  EXPECT_THAT(result->settings.steps, ElementsAre("click #accept"));
  EXPECT_THAT(result->settings.replay_options, testing::Optional(ElementsAre("--inject=none")));
  ASSERT_THAT(result->loads, SizeIs(2));
  auto const& load = result->loads[0];
  EXPECT_EQ(load.configuration, (LoadConfiguration{"chromium", "h2", "wpt:4g", "warm"}));
  EXPECT_EQ(load.page.cumulative_layout_shift, 0.031);
  EXPECT_EQ(load.page.encoded_bytes, 100);
  EXPECT_EQ(load.page.browser_requests->size(), 2);
  EXPECT_EQ(load.page.requests[0].timing->first_byte_ms, 0.9);
  EXPECT_EQ(load.page.requests[0].timing->connect_start_ms, -1);
  EXPECT_EQ(load.page.requests[1].end_ms, -1);
  EXPECT_EQ(load.page.requests[1].timing, std::nullopt);
  EXPECT_EQ(load.skipped, "busy");
  EXPECT_EQ(load.page.machine->own_nice, -19);
  EXPECT_EQ(load.page.machine->clock_step_ms, -3600.5);
  EXPECT_EQ(load.page.machine->throttled_ms, std::nullopt);
  EXPECT_EQ(load.page.machine->quota, 1.5);
  EXPECT_TRUE(load.page.machine->stopped);
  EXPECT_EQ(load.page.machine->paused_ms, 1.25);
  EXPECT_EQ(load.page.lateness_ms, 2.75);
  EXPECT_EQ(result->loads[1].page.lateness_ms, std::nullopt);
  EXPECT_FALSE(result->loads[1].page.machine);
  EXPECT_EQ(result->loads[1].page.outcome, LoadOutcome::kTimedOut);
  EXPECT_EQ(result->loads[1].page.load_event_ms, std::nullopt);
  ASSERT_EQ(load.replay, 1);
  auto const& report = *result->replays[1].report;
  EXPECT_EQ(report.hits, 7);
  EXPECT_EQ(report.distinct_misses[0].reason, "never recorded");
  EXPECT_EQ(report.special_answers[0].kind, "preflight");
  EXPECT_THAT(report.missing_names, ElementsAre("update.test"));
  EXPECT_EQ(report.link->text, "9mbit");
  EXPECT_TRUE(report.link->self_check_ok);
  EXPECT_EQ(report.link->down_bps, 9e6);
  EXPECT_EQ(report.link->up_bps, std::nullopt);
  EXPECT_EQ(report.link->queue_drops, 10);
  EXPECT_THAT(report.link->timeline->down.queue_bytes, ElementsAre(0, 1500));
  EXPECT_EQ(result->replays[0].report, std::nullopt);
  EXPECT_EQ(result->replays[0].exit_code, 3);
}

TEST(ReadResult, KnowsWhatOlderResultsDoNotSay) {
  auto const result = result_with(R"("browser":{"version":"C/1"},"replays":[{"run":3}],
    "loads":[{"url":"u","requests":[{"encoded_bytes":7,"connection":2},{"start_ms":-1}]},
             {"run":3},{"run":3,"replay":null}])");
  ASSERT_THAT(result.browsers, SizeIs(1));
  EXPECT_EQ(result.browsers[0].version, "C/1");
  auto const& page = result.loads[0].page;
  EXPECT_EQ(page.outcome, LoadOutcome::kUnknown);
  EXPECT_EQ(page.encoded_bytes, 7);
  EXPECT_EQ(page.request_count, 2);
  EXPECT_EQ(page.connection_count, 1);
  EXPECT_EQ(page.requests[1].start_ms, -1);
  EXPECT_EQ(page.browser_requests, std::nullopt);
  EXPECT_EQ(result.loads[0].replay, std::nullopt);
  EXPECT_EQ(result.loads[1].replay, 0) << "the one of the same run";
  EXPECT_EQ(result.loads[2].replay, std::nullopt);
  EXPECT_EQ(result.loads[1].order, 2);
}

TEST(ReadResult, TakesANiceValueThatNoProcessHasForTheNearestOne) {
  auto const result = result_with(R"("loads":[{"machine":{"own_nice":1e15}},
    {"machine":{"own_nice":-1e15}},{"machine":{"own_nice":-19}}])");
  ASSERT_THAT(result.loads, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(result.loads[i].page.machine);
  EXPECT_EQ(result.loads[0].page.machine->own_nice, 19);
  EXPECT_EQ(result.loads[1].page.machine->own_nice, -20);
  EXPECT_EQ(result.loads[2].page.machine->own_nice, -19);
}

TEST(ReadResult, NamesTheFieldThatIsWrong) {
  auto const error = [](const std::string& fields) {
    return error_of(R"({"schema":"reprise-load/1",)" + fields + "}");
  };
  EXPECT_EQ(error(R"("loads":[{},{"url":7}])"), "loads[1].url must be a text");
  EXPECT_EQ(error(R"("loads":[{},"x"])"), "loads[1] must be an object");
  EXPECT_EQ(error(R"("loads":{})"), "loads must be an array");
  EXPECT_EQ(error(R"("loads":[{"load_event_ms":"soon"}])"),
            "loads[0].load_event_ms must be a number or null");
  EXPECT_EQ(error(R"("loads":[{"load_event_ms":-1}])"),
            "loads[0].load_event_ms must be from 0 to 1e15");
  EXPECT_EQ(error(R"("loads":[{"warm_up":1}])"), "loads[0].warm_up must be true or false");
  EXPECT_EQ(error(R"("loads":[{"remarks":[1]}])"), "loads[0].remarks must be texts");
  EXPECT_EQ(error(R"("loads":[{"requests":[{"timing":{"dns_start_ms":1e16}}]}])"),
            "loads[0].requests[0].timing.dns_start_ms must not be over 1e15");
  EXPECT_EQ(error(R"("loads":[{"requests":[{"connection":{}}]}])"),
            "loads[0].requests[0].connection must be a number or null");
  EXPECT_EQ(error(R"("loads":[{"replay":0}])"), "loads[0].replay is not an index into replays");
  EXPECT_EQ(error(R"("replays":[{}],"loads":[{"replay":0.5}])"),
            "loads[0].replay is not an index into replays");
  EXPECT_EQ(error(R"("seed":-1)"), "seed must be a whole number");
  EXPECT_EQ(error(R"("settings":[])"), "settings must be an object");
  EXPECT_EQ(error(R"("replays":[{"report":{"link":{"timeline":{"up":{"drops":["x"]}}}}}])"),
            "replays[0].report.link.timeline.up.drops must be numbers");
}

TEST(ReadResult, RefusesMoreRequestsThanALoadHas) {
  std::string requests = "{}";
  for (std::size_t i = 0; i < kResultRequestsMax; ++i) requests += ",{}";
  EXPECT_EQ(error_of(R"({"schema":"reprise-load/1","loads":[{"requests":[)" + requests + "]}]}"),
            "loads[0].requests must not have more than 20000 elements");
}

TEST(ReadReplayReport, TakesASeedOfAnySize) {
  ScratchFolder const folder;
  auto const file = folder / "report.json";
  std::ofstream(file) << R"({"hits":1,"misses":2,"link":{"link_seed":18446744073709551615}})";
  auto const report = read_replay_report(file);
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->misses, 2);
  ASSERT_TRUE(report->link);
  EXPECT_EQ(report->link->seed, 18446744073709551615U);
}

TEST(ReadReplayReport, HasWhatLatePacketsAndDeviationsCanHaveCost) {
  ScratchFolder const folder;
  auto const file = folder / "report.json";
  std::ofstream(file) << R"({"link":{"lateness":{"cost_ms":3.5,"growth":{"resolution_ms":0.05,
    "at_ms":[1000.5,2000],"cost_ms":[1.5,3.5]}},"doubts":["slow","lost"],
    "deviations":[{"text":"slow","share":0.03}]}})";
  auto const report = read_replay_report(file);
  ASSERT_TRUE(report) << report.error();
  auto const& link = report->link.value();
  EXPECT_EQ(link.lateness_cost_ms, 3.5);
  ASSERT_TRUE(link.lateness_growth);
  EXPECT_EQ(link.lateness_growth->resolution_ms, 0.05);
  EXPECT_THAT(link.lateness_growth->at_ms, ElementsAre(1000.5, 2000));
  EXPECT_THAT(link.lateness_growth->cost_ms, ElementsAre(1.5, 3.5));
  EXPECT_THAT(link.warnings, ElementsAre("slow", "lost"));
  ASSERT_THAT(link.deviations, SizeIs(1));
  EXPECT_EQ(link.deviations[0].text, "slow");
  EXPECT_EQ(link.deviations[0].share, 0.03);
}

TEST(ReadReplayReport, KnowsNoGrowthOfOlderReports) {
  ScratchFolder const folder;
  auto const file = folder / "report.json";
  std::ofstream(file) << R"({"link":{"lateness":{"cost_ms":3.5},"doubts":["slow"]}})";
  auto const report = read_replay_report(file);
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->link.value().lateness_cost_ms, 3.5);
  EXPECT_FALSE(report->link.value().lateness_growth);
  EXPECT_THAT(report->link.value().deviations, testing::IsEmpty());
}

TEST(ReadResult, HasTheDigestsOfTraces) {
  auto const result = result_with(R"("replays":[{"report":{"link":{"link":{
    "down":{"trace":{"file":"a","sha256":"aa"}},"up":{"trace":null}}}}}])");
  ASSERT_THAT(result.replays, SizeIs(1));
  EXPECT_EQ(result.replays[0].report->link->down_trace_sha256, "aa");
  EXPECT_EQ(result.replays[0].report->link->up_trace_sha256, "");
}

TEST(ReadResult, KeepsWhatDisturbedALoad) {
  auto const result = result_with(R"("loads":[{"url":"u","disturbed":"it slept"},{"url":"u"}])");
  ASSERT_THAT(result.loads, SizeIs(2));
  EXPECT_EQ(result.loads[0].disturbed, "it slept");
  EXPECT_EQ(result.loads[1].disturbed, "");
  auto const written = to_json(result);
  auto const& loads = written.at("loads").as_array();
  EXPECT_EQ(loads[0].at("disturbed").as_string(), "it slept");
  EXPECT_FALSE(loads[1].as_object().contains("disturbed"));
}

TEST(ReadResult, RefusesWhatIsNoResult) {
  EXPECT_THAT(error_of(""), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("no"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("{} x"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr("not JSON"));
  EXPECT_EQ(error_of("[]"), "it is not a JSON object");
  EXPECT_EQ(error_of("{}"), "schema is missing");
  EXPECT_EQ(error_of(R"({"schema":"reprise-load/2"})"),
            "schema is 'reprise-load/2', not reprise-load/1");
  EXPECT_EQ(read_result_file("/nonexistent").error(), "No such file or directory");
}

}  // namespace
}  // namespace reprise
