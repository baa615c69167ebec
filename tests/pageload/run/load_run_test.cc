// One load, with this program itself as replay and as the process that drives the browser.

#include "pageload/run/load_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "pageload/results/result_file.h"

namespace reprise {
namespace {

using testing::HasSubstr;

std::string value_of(int argc, char** argv, const std::string& flag) {
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (argument.starts_with(flag + "=")) return argument.substr(flag.size() + 1);
  }
  return {};
}

/// What stands in for `reprise load-page ... URL`; the URL says what becomes of the page.
int load_page(int argc, char** argv) {
  std::string const url = argv[argc - 1];
  if (url == "hang") {
    for (;;) ::pause();
  }
  if (url == "crash") std::_Exit(7);
  if (url == "kill") ::kill(::getpid(), SIGKILL);
  PageReport report{.browser = {.version = "Fake/1"}, .page = {.url = url, .final_url = url}};
  if (url == "fails") report.page.outcome = LoadOutcome::kNavigationFailed;
  return write_page_report(report, value_of(argc, argv, "--output")) ? 0 : 1;
}

/// What stands in for `reprise replay ARCHIVE ... -- COMMAND`; the archive's name says how it
/// behaves.
int replay(int argc, char** argv) {
  std::string const archive = argv[2];
  std::fputs("chatter\nreprise: a remark\n", stderr);
  if (archive == "broken") return 3;
  auto const report = value_of(argc, argv, "--report");
  std::ofstream(report) << (archive == "without-page"
                                ? R"({"hits": 0, "misses": 1, "distinct_misses": [)"
                                  R"({"method": "GET", "url": "loads", "reason": "no such host"}]})"
                                : R"({"hits": 1, "misses": 0})");
  int dashes = 3;
  while (dashes < argc && std::string_view(argv[dashes]) != "--") ++dashes;
  auto const child = ::fork();
  if (child == 0) ::execv(argv[dashes + 1], argv + dashes + 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return archive == "strict" ? 5 : WEXITSTATUS(status);
}

MeasuredLoad load(const LoadSetup& setup, const std::string& url) {
  return measure_load(setup, {.browser = "fake"}, url, "load-0001");
}

TEST(MeasureLoad, GivesThePageAndItsBrowser) {
  auto const live = load({}, "loads");
  EXPECT_EQ(live.end, LoadEnd::kLoaded);
  ASSERT_TRUE(live.page);
  EXPECT_EQ(live.page->final_url, "loads");
  EXPECT_EQ(live.browser.name, "fake");
  EXPECT_EQ(live.browser.version, "Fake/1");
  EXPECT_FALSE(live.replay);
  EXPECT_EQ(live.exit_code, 0);
}

TEST(MeasureLoad, AddsWhatTheReplayReports) {
  auto const served = load({.archive = "good"}, "loads");
  EXPECT_EQ(served.end, LoadEnd::kLoaded);
  ASSERT_TRUE(served.replay && served.replay->report && served.page);
  EXPECT_EQ(served.page->hits, 1);
  EXPECT_EQ(served.replay->exit_code, 0);
  EXPECT_EQ(served.messages, "reprise: a remark\n");
}

TEST(MeasureLoad, TellsAPageThatDidNotLoad) {
  EXPECT_EQ(load({}, "fails").end, LoadEnd::kNotLoaded);
  auto const missing = load({.archive = "without-page"}, "loads");
  EXPECT_EQ(missing.end, LoadEnd::kNotLoaded);
  EXPECT_EQ(missing.page->outcome, LoadOutcome::kNotInArchive);
}

TEST(MeasureLoad, KeepsTheExitCodeOfAReplayThatServed) {
  auto const strict = load({.archive = "strict"}, "loads");
  EXPECT_EQ(strict.end, LoadEnd::kLoaded);
  EXPECT_EQ(strict.exit_code, 5);
}

TEST(MeasureLoad, TellsWhyAReplayDidNotServe) {
  auto const broken = load({.archive = "broken"}, "loads");
  EXPECT_EQ(broken.end, LoadEnd::kNotServed);
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_EQ(broken.messages, "reprise: a remark\n");
  ASSERT_TRUE(broken.replay);
  EXPECT_EQ(broken.replay->exit_code, 3);
  EXPECT_FALSE(broken.page);
}

TEST(MeasureLoad, TellsHowAProcessEndedThatWroteNothing) {
  auto const crashed = load({}, "crash");
  EXPECT_EQ(crashed.end, LoadEnd::kNotServed);
  EXPECT_EQ(crashed.exit_code, 7);
  EXPECT_EQ(crashed.messages, "reprise: the load ended with exit status 7\n");
  auto const killed = load({}, "kill");
  EXPECT_EQ(killed.end, LoadEnd::kNotServed);
  EXPECT_EQ(killed.exit_code, 1);
  EXPECT_THAT(killed.messages, HasSubstr("was ended by signal 9"));
}

TEST(MeasureLoad, CannotStartAProgramThatIsNotThere) {
  auto const none = load({.program = "/nonexistent/reprise"}, "loads");
  EXPECT_EQ(none.end, LoadEnd::kNotStarted);
  EXPECT_EQ(none.messages, "reprise: cannot start a load: No such file or directory\n");
}

TEST(MeasureLoad, EndsAPageThatTakesTooLong) {
  auto const late = load({.archive = "good", .time_limit = std::chrono::seconds(0)}, "hang");
  EXPECT_EQ(late.end, LoadEnd::kNotLoaded);
  ASSERT_TRUE(late.page);
  EXPECT_EQ(late.page->outcome, LoadOutcome::kTimedOut);
  EXPECT_EQ(late.page->failure, "The load did not end in 0 s.");
  EXPECT_EQ(late.page->url, "hang");
  EXPECT_EQ(late.exit_code, 0);
  ASSERT_TRUE(late.replay);
  EXPECT_EQ(late.replay->exit_code, 1);
}

TEST(MeasureLoad, EndsWithoutAPageOnceItIsToStop) {
  auto const stopped = load({.stop = [] { return true; }}, "hang");
  EXPECT_EQ(stopped.end, LoadEnd::kInterrupted);
  EXPECT_FALSE(stopped.page);
  EXPECT_FALSE(stopped.replay);
}

TEST(AddLoad, NumbersLoadsAndReplays) {
  LoadResult result;
  for (unsigned const run : {1U, 2U}) {
    MeasuredLoad measured{.page = PageLoad{.url = "https://a.test/"},
                          .browser = {.name = "fake"},
                          .replay = ReplayRun{}};
    add_load(result, std::move(measured), {.browser = "fake", .cache = "warm"}, run, run == 1);
  }
  ASSERT_EQ(result.loads.size(), 2);
  EXPECT_TRUE(result.loads[0].warm_up);
  EXPECT_FALSE(result.loads[1].warm_up);
  EXPECT_EQ(result.loads[1].order, 2);
  EXPECT_EQ(result.loads[1].replay, 1);
  EXPECT_EQ(result.loads[1].configuration.cache, "warm");
  ASSERT_EQ(result.replays.size(), 2);
  EXPECT_EQ(result.replays[1].run, 2);
  EXPECT_EQ(result.browsers.size(), 1) << "the same one";
}

TEST(AddLoad, KeepsTheReplayOfALoadWithoutAPage) {
  LoadResult result;
  add_load(result, {.replay = ReplayRun{.exit_code = 3}}, {}, 1, false);
  EXPECT_TRUE(result.loads.empty());
  ASSERT_EQ(result.replays.size(), 1);
  EXPECT_EQ(result.replays[0].exit_code, 3);
}

TEST(MoveLastLoad, TakesItsReplayAlong) {
  LoadResult from, to;
  for (int const code : {4, 5}) {
    for (LoadResult* const result : {&from, &to}) {
      add_load(*result,
               {.page = PageLoad{.url = "https://a.test/" + std::to_string(code)},
                .replay = ReplayRun{.exit_code = code}},
               {}, 1, false);
    }
  }
  move_last_load(from, to);
  ASSERT_EQ(from.loads.size(), 1);
  EXPECT_EQ(from.replays.at(*from.loads[0].replay).exit_code, 4);
  ASSERT_EQ(to.loads.size(), 3);
  EXPECT_EQ(to.loads[2].page.url, "https://a.test/5");
  EXPECT_EQ(to.loads[2].order, 3);
  ASSERT_EQ(to.replays.size(), 3);
  EXPECT_EQ(to.replays.at(*to.loads[2].replay).exit_code, 5);
}

TEST(MoveLastLoad, MovesOneThatWasLoadedLive) {
  LoadResult from, to;
  add_load(from, {.page = PageLoad{.url = "https://a.test/"}}, {}, 1, false);
  move_last_load(from, to);
  EXPECT_TRUE(from.loads.empty());
  ASSERT_EQ(to.loads.size(), 1);
  EXPECT_FALSE(to.loads[0].replay);
  EXPECT_TRUE(to.replays.empty());
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "replay") return reprise::replay(argc, argv);
  if (argc > 2 && std::string_view(argv[1]) == "load-page") return reprise::load_page(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
