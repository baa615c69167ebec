// One load, with this program itself as replay and as the process that drives the browser.

#include "pageload/run/load_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "base/system/clock.h"
#include "base/system/machine_sample.h"
#include "base/system/thread_priority.h"
#include "pageload/results/result_file.h"
#include "pageload/run/pause_watch.h"

namespace reprise {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string value_of(int argc, char** argv, const std::string& flag) {
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (argument.starts_with(flag + "=")) return argument.substr(flag.size() + 1);
  }
  return {};
}

/// Stops a process for a moment: 1.5 % of a load of 4 s.
void stop_a_child() {
  auto const child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  ::kill(child, SIGSTOP);
  ::poll(nullptr, 0, 60);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(read_clock(CLOCK_MONOTONIC)).count();
}

/// The URL of a page that lasts until it was seen; the rest is where its Signs are.
constexpr std::string_view kLasts = "lasts:";

/// Files by which a page of kLasts says that its load began, and is told that it was seen.
struct Signs {
  explicit Signs(const std::string& name) : began(name + "-began"), seen(name + "-seen") {}
  fs::path began, seen;
};
void put(const fs::path& sign) {
  std::ofstream const made(sign);
}

MachineActivity last_until_seen(const Signs& signs) {
  MachineActivity machine{.began_ms = now_ms()};
  put(signs.began);
  while (!fs::exists(signs.seen)) ::poll(nullptr, 0, 1);
  machine.span_ms = now_ms() - machine.began_ms;
  return machine;
}

/// A load in which the replay, the parent of this process, uses the processor for so long; it goes
/// on after that, as for a page that polls.
MachineActivity let_the_replay_work(std::chrono::milliseconds long_enough) {
  auto const until_it_used = [](MachineSample::Time more) {
    auto const before = processor_time_of(::getppid());
    while (processor_time_of(::getppid()) - before < more) ::poll(nullptr, 0, 1);
  };
  MachineActivity machine{.began_ms = now_ms()};
  until_it_used(long_enough);
  machine.span_ms = now_ms() - machine.began_ms;
  until_it_used(100ms);
  return machine;
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
  if (url == "stops") {
    stop_a_child();
    report.page.machine = MachineActivity();
  }
  if (url == "works") report.page.machine = let_the_replay_work(300ms);
  if (url.starts_with(kLasts)) {
    report.page.machine = last_until_seen(Signs(url.substr(kLasts.size())));
  }
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
  while (archive == "busy" && ::waitpid(child, &status, WNOHANG) == 0) {
  }
  if (archive != "busy") ::waitpid(child, &status, 0);
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

TEST(MeasureLoad, SeesAProcessThatIsStoppedForAMoment) {
  constexpr int kTries = 10;  // a busy machine can delay the looks at one
  bool seen = false;
  for (int tries = 0; tries < kTries && !seen; ++tries) {
    auto const stopped = load({}, "stops");
    ASSERT_TRUE(stopped.page && stopped.page->machine);
    seen = stopped.page->machine->stopped;
  }
  EXPECT_TRUE(seen);
}

TEST(MeasureLoad, AddsWhatTheReplayUsedDuringTheLoad) {
  auto const served = load({.archive = "busy"}, "works");
  ASSERT_TRUE(served.page && served.page->machine);
  EXPECT_GE(served.page->machine->own_ms, 50);
}

/// A page of kLasts, and its Signs.
struct LastingPage {
  std::string name = testing::TempDir() + "reprise-load-run-" + std::to_string(::getpid());
  std::string url = std::string(kLasts) + name;
  Signs signs{name};

  ~LastingPage() {
    for (const fs::path& sign : {signs.began, signs.seen}) {
      std::error_code ignored;
      fs::remove(sign, ignored);
    }
  }
};

/// Stops this process during a load, between two looks: 0, or the number of what is wrong.
int stop_between_two_looks() {
  LastingPage const page;
  bool stopped = false;
  auto const stop = [&] {
    if (!fs::exists(page.signs.began)) return false;
    if (std::exchange(stopped, true)) {
      put(page.signs.seen);
    } else {
      ::raise(SIGSTOP);
    }
    return false;
  };
  auto const paused = load({.time_limit = 60s, .stop = stop}, page.url);
  if (!paused.page || !paused.page->machine) return 1;
  return paused.page->machine->paused_ms >= 250 ? 0 : 2;
}

TEST(MeasureLoad, CountsATimeInWhichItsOwnThreadWasStopped) {
  if (!own_waiting_time()) GTEST_SKIP() << "this kernel does not tell how long a thread waited";
  // Another process: a shell would see this one stopped.
  auto const child = ::fork();
  if (child == 0) std::_Exit(stop_between_two_looks());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  ::poll(nullptr, 0, 300);
  ::kill(child, SIGCONT);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// Policy and nice value of this thread.
using Rank = std::pair<int, int>;
Rank own_rank() {
  return {::sched_getscheduler(0), ::getpriority(PRIO_PROCESS, 0)};
}

/// Of the thread that looks at a load.
std::set<Rank> ranks_of_looks(bool favoured) {
  LastingPage const page;
  std::set<Rank> ranks;
  auto const stop = [&] {
    ranks.insert(own_rank());
    put(page.signs.seen);
    return false;
  };
  load({.time_limit = 60s, .favoured = favoured, .stop = stop}, page.url);
  return ranks;
}

TEST(MeasureLoad, TakesPriorityForItsLooksAlone) {
  auto const before = own_rank();
  Rank best;
  std::thread([&best] {
    auto const taken = ThreadPriority::take(WantedPriority::kBest, 1);
    if (taken) best = own_rank();
  }).join();
  EXPECT_THAT(ranks_of_looks(true), Contains(best));
  EXPECT_EQ(own_rank(), before);
  if (best != before) EXPECT_THAT(ranks_of_looks(false), Not(Contains(best)));  // --no-realtime
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
