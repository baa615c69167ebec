#include "tools/load/load_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/commands.h"

namespace reprise {
namespace {

constexpr auto kCoded = "http://a.test/\x1b[2J";
constexpr auto kReadable = R"(http://a.test/\x1b[2J)";

LoadResult::Load load_of(const LoadCell& cell, double load_event_ms, bool warm_up = false) {
  PageLoad page;
  page.url = cell.url;
  page.load_event_ms = load_event_ms;
  page.last_load_ms = load_event_ms + 1;
  if (load_event_ms < 0) page.outcome = LoadOutcome::kTimedOut;
  return {.configuration = cell.configuration, .warm_up = warm_up, .page = std::move(page)};
}

TEST(LoadTable, HasARowForEachConfigurationAndCountsNoWarmUpAndNoFailure) {
  auto const cells = load_cells({.urls = {"http://a.test/"},
                                 .browsers = {"chromium"},
                                 .protocols = {"h1", "h2"},
                                 .links = {"none"},
                                 .caches = {"cold"}});
  LoadResult result;
  result.loads = {load_of(cells[0], 9000, true), load_of(cells[0], 99), load_of(cells[0], 101),
                  load_of(cells[0], -1), load_of(cells[1], 50)};
  result.loads[1].page.misses = 3;
  EXPECT_EQ(load_table(result, cells),
            "page                 loads  failed  load event ms  CV %  last load ms  misses\n"
            "http://a.test/ (h1)      2       1          100.0  1.41         101.0       3\n"
            "http://a.test/ (h2)      1       0           50.0     -          51.0       -\n");
}

TEST(LoadTable, CountsALoadWithoutALoadEventAndDoesNotTakeItForZero) {
  LoadCell const cell{.url = "http://a.test/", .configuration = {}};
  LoadResult result;
  result.loads = {load_of(cell, 100), load_of(cell, 100)};
  result.loads[1].page.load_event_ms.reset();
  result.loads[1].page.last_load_ms.reset();
  EXPECT_EQ(load_table(result, {cell}),
            "page            loads  failed  load event ms  CV %  last load ms  misses\n"
            "http://a.test/      2       0          100.0     -         101.0       -\n");
}

TEST(LoadTable, CountsNoDisturbedLoadAndSaysHowManyThereAre) {
  LoadCell const cell{.url = "http://a.test/", .configuration = {}};
  LoadResult result;
  result.loads = {load_of(cell, 99), load_of(cell, 5000), load_of(cell, 101)};
  result.loads[1].disturbed = "a processor quota stopped the load for 812 ms";
  EXPECT_EQ(
      load_table(result, {cell}),
      "page            loads  disturbed  failed  load event ms  CV %  last load ms  misses\n"
      "http://a.test/      2          1       0          100.0  1.41         101.0       -\n");
}

TEST(LoadTable, HasNoColumnOfDisturbedLoadsThatFailedAllTheSame) {
  LoadCell const cell{.url = "http://a.test/", .configuration = {}};
  LoadResult result;
  result.loads = {load_of(cell, 100), load_of(cell, -1)};
  result.loads[1].disturbed = "the machine slept for 3.0 s";
  EXPECT_EQ(load_table(result, {cell}),
            "page            loads  failed  load event ms  CV %  last load ms  misses\n"
            "http://a.test/      1       1          100.0     -         101.0       -\n");
}

/// Loads of one cell: the load event, and the packets that the link's queue dropped.
LoadResult result_of(const LoadCell& cell, const std::vector<std::pair<double, double>>& loads) {
  LoadResult result;
  for (auto const& [load_event_ms, drops] : loads) {
    ReplaySummary summary;
    summary.link.emplace().queue_drops = drops;
    result.loads.push_back(load_of(cell, load_event_ms));
    result.loads.back().replay = result.replays.size();
    result.replays.push_back({.exit_code = 0, .report = std::move(summary)});
  }
  return result;
}

TEST(LoadTable, SaysThatSlowLoadsLostPacketsInTheQueue) {
  auto const cells = load_cells({.urls = {"http://a.test/"},
                                 .browsers = {"chromium"},
                                 .protocols = {"h1"},
                                 .links = {"wpt:cable"},
                                 .caches = {"cold"}});
  auto const text = [&](const std::vector<std::pair<double, double>>& loads) {
    return dropped_text(result_of(cells[0], loads), cells);
  };
  EXPECT_EQ(text({{1900, 0}, {1910, 7}, {1920, 3}, {1930, 0}, {2800, 8}}),
            "http://a.test/: 1 of 5 loads took 880 ms longer, and the link's queue dropped packets "
            "in it: when the last packets of a response are dropped, it waits for a timeout. A "
            "longer queue has room for them: --link LINK,queue=1000p\n");
  EXPECT_EQ(text({{1900, 0}, {1910, 7}, {1920, 3}, {1930, 0}, {2800, 0}}), "");  // another cause
  EXPECT_EQ(text({{1900, 0}, {1910, 7}, {1920, 3}, {1930, 0}, {1950, 8}}), "");  // not slow
  EXPECT_EQ(text({{1900, 0}, {1910, 7}, {2820, 3}, {2830, 1}, {2800, 8}}), "");  // no outliers
  EXPECT_EQ(text({}), "");
}

TEST(LoadText, IsOneLine) {
  EXPECT_EQ(load_text({.outcome = LoadOutcome::kTimedOut, .failure = "No.", .url = "u"}),
            "timed-out u: No.");
  PageLoad page{.url = "u", .requests = {{.encoded_bytes = 1500}}, .load_event_ms = 12.34};
  sum_up(page);
  auto const text = "loaded u: 1 request, 1.5 kB, load event 12.3 ms";
  EXPECT_EQ(load_text(page), text);
  page.misses = 0;
  EXPECT_EQ(load_text(page), text);
}

TEST(LoadText, CountsMisses) {
  PageLoad page{.url = "u", .load_event_ms = 12.34, .misses = 1};
  EXPECT_EQ(load_text(page), "loaded u: 0 requests, 0.0 kB, load event 12.3 ms, 1 miss");
  page.misses = 2;
  EXPECT_THAT(load_text(page), testing::EndsWith(", 2 misses"));
}

/// The end of a replay with --strict: 5 for misses or warnings.
ReplayRun strict_replay(std::vector<ReplaySummary::Miss> misses,
                        std::vector<std::string> warnings) {
  bool const good = misses.empty() && warnings.empty();
  ReplaySummary summary{.misses = static_cast<double>(misses.size()),
                        .distinct_misses = std::move(misses)};
  summary.link.emplace().warnings = std::move(warnings);
  return {.exit_code = good ? kExitDone : kExitGate, .report = std::move(summary)};
}

TEST(LoadTable, SaysWhyAStrictReplayFailed) {
  LoadResult result;
  result.replays = {strict_replay({}, {}),
                    strict_replay({{"GET", kCoded, "no such host"}, {"GET", "u", "r"}}, {}),
                    strict_replay({{"GET", "u", "r"}}, {})};
  auto const misses =
      std::string("misses in 2 of 3 loads, such as GET ") + kReadable + " (no such host)";
  EXPECT_EQ(strict_text(result), misses);
  result.replays[0] = strict_replay({}, {"down: 1 packet was lost"});
  EXPECT_EQ(strict_text(result), misses + "; the link missed its settings in 1 of 3 loads");
  result.replays.resize(1);
  EXPECT_EQ(strict_text(result), "the link missed its settings in 1 of 1 load");
  result.replays[0].exit_code = kExitDone;  // without --strict
  EXPECT_EQ(strict_text(result), "");
}

TEST(LoadText, ShowsEscapeSequencesOfThePageAsText) {
  EXPECT_EQ(load_text({.outcome = LoadOutcome::kTimedOut, .failure = "a\nb", .url = kCoded}),
            std::string("timed-out ") + kReadable + R"(: a\x0ab)");
  EXPECT_EQ(load_text({.url = kCoded}),
            std::string("loaded ") + kReadable + ": 0 requests, 0.0 kB, load event none");
}

TEST(LoadText, NamesTheStatusOfADocumentThatIsAnError) {
  auto const request = [](std::string type, int status) {
    PageRequest made;
    made.resource_type = std::move(type);
    made.status = status;
    return made;
  };
  auto const text_of = [](std::vector<PageRequest> requests) {
    PageLoad page;
    page.requests = std::move(requests);
    return load_text(page);
  };
  EXPECT_THAT(text_of({request("Document", 302), request("Document", 500)}),
              testing::EndsWith(", status 500"));
  EXPECT_THAT(text_of({request("Document", 200), request("Image", 404), request("Document", 404)}),
              testing::Not(testing::HasSubstr("status")));

  PageLoad led{.final_url = "https://a.test/next#top"};
  led.requests = {request("Document", 200), request("Document", 503)};
  led.requests[1].url = "https://a.test/next";
  EXPECT_THAT(load_text(led), testing::EndsWith(", status 503")) << "a script leads there";
}

TEST(LoadTable, ShowsEscapeSequencesOfThePageAsText) {
  auto const cells = load_cells({.urls = {kCoded},
                                 .browsers = {"chromium"},
                                 .protocols = {"h1"},
                                 .links = {"none"},
                                 .caches = {"cold"}});
  auto const result = result_of(cells[0], {{1900, 0}, {1910, 7}, {1920, 3}, {1930, 0}, {2800, 8}});
  for (auto const& text : {load_table(result, cells), dropped_text(result, cells)}) {
    EXPECT_NE(text.find(kReadable), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace reprise
