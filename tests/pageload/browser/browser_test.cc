// The driver against browsers that behave badly: the right outcome, soon, and nothing left over.

#include "pageload/browser/browser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

constexpr auto kLimit = 120s;  // of a start and of a load, where a test is not about it

/// What the fake browser noted about itself.
struct Notes {
  pid_t browser = 0;
  pid_t guard = 0;
  pid_t orphan = 0;
  fs::path profile;
};

class BadBrowser : public testing::Test {
 protected:
  BrowserOptions browser_that(const std::string& mode) {
    BrowserOptions options;
    options.program = FAKE_BROWSER;
    options.extra_flags = {"--fake=" + mode, "--notes=" + notes_file_.string()};
    options.start_timeout = kLimit;
    return options;
  }

  static PageOptions page_options() {
    PageOptions options;
    options.timeout = kLimit;
    options.quiet = 1ms;
    options.settle = 0ms;
    return options;
  }

  PageLoad load_with(const std::string& mode, std::chrono::milliseconds timeout = kLimit,
                     std::chrono::milliseconds settle = 0ms) {
    std::string failure;
    auto browser = Browser::start(browser_that(mode), &failure);
    EXPECT_TRUE(browser.has_value()) << failure;
    if (!browser) return {};
    PageOptions options = page_options();
    options.timeout = timeout;
    options.settle = settle;
    PageLoad load = (*browser)->load("http://a.test/", options);
    usable_ = (*browser)->usable();
    return load;
  }

  Notes notes() const {
    Notes notes;
    std::ifstream(notes_file_) >> notes.browser >> notes.guard >> notes.orphan >> notes.profile;
    return notes;
  }

  void expect_nothing_left() const {
    auto const left = notes();
    ASSERT_GT(left.orphan, 0);
    for (pid_t const pid : {left.browser, left.guard, left.orphan}) {
      EXPECT_EQ(::kill(pid, 0), -1) << pid;
    }
    EXPECT_FALSE(fs::exists(left.profile.parent_path())) << left.profile;
  }

  void TearDown() override {
    EXPECT_LT(std::chrono::steady_clock::now() - started_, 100s) << "kLimit was waited for";
    fs::remove(notes_file_);
  }

  fs::path notes_file_ = fs::path(testing::TempDir()) / ("fake-" + std::to_string(::getpid()));
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  bool usable_ = false;
};

TEST_F(BadBrowser, LoadsAPageWhenItBehaves) {
  auto const load = load_with("ok");
  EXPECT_EQ(load.outcome, LoadOutcome::kLoaded) << load.failure;
  EXPECT_EQ(load.dom, "<html></html>");
  ASSERT_EQ(load.requests.size(), 1);
  EXPECT_EQ(load.requests[0].body_sha256,
            "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  EXPECT_NEAR(load.load_event_ms.value_or(-1), 30, 0.01);
  EXPECT_TRUE(usable_);
  expect_nothing_left();
}

TEST_F(BadBrowser, IsBusyBehindANewPageAndSettles) {
  auto outcome = LoadOutcome::kBrowserDied;
  // Nobody is waited for longer than ten seconds, in which a busy machine may not get that far.
  for (int i = 0; i < 5 && outcome != LoadOutcome::kLoaded; ++i) {
    outcome = load_with("starts", kLimit, 500ms).outcome;
  }
  EXPECT_EQ(outcome, LoadOutcome::kLoaded);
  EXPECT_EQ(load_with("starts", kLimit, 0ms).outcome, LoadOutcome::kBrowserDied);
}

TEST_F(BadBrowser, LeavesThePageLateAndIsWaitedForBeforeTheLoadThatCounts) {
  auto browser = Browser::start(browser_that("leaves-late"));
  ASSERT_TRUE(browser.has_value());
  auto options = page_options();
  options.warm = true;
  auto const load = (*browser)->load("http://a.test/", options);
  EXPECT_EQ(load.outcome, LoadOutcome::kLoaded) << load.failure;
  EXPECT_EQ(load.final_url, "http://a.test/");
}

TEST_F(BadBrowser, WorksUntilTheLastLoadEventAndThatIsCounted) {
  auto const load = load_with("goes-on");
  ASSERT_EQ(load.outcome, LoadOutcome::kLoaded) << load.failure;
  EXPECT_NEAR(load.load_event_ms.value_or(-1), 430, 0.01);
  ASSERT_TRUE(load.machine.has_value());
  EXPECT_GT(load.machine->own_ms, 200) << "300 ms between the two pages";
}

TEST_F(BadBrowser, AsksAndIsAnsweredUntilThePageIsLeftToItsUser) {
  auto browser = Browser::start(browser_that("asks"));
  ASSERT_TRUE(browser.has_value());
  auto options = page_options();
  options.keep_open = true;
  const char* const home = std::getenv("HOME");
  std::string const before = home != nullptr ? home : "/";
  ::setenv("HOME", "/home/user", 1);
  auto const load = (*browser)->load("http://a.test/", options);
  ::setenv("HOME", before.c_str(), 1);
  EXPECT_EQ(load.outcome, LoadOutcome::kLoaded) << load.failure;
  auto const told = fs::path(notes_file_).concat(".user");
  std::string dialog;
  std::string downloads;
  std::string folder;
  std::ifstream(told) >> dialog >> downloads >> folder;
  EXPECT_EQ(dialog, "left");
  EXPECT_EQ(downloads, "allow");
  EXPECT_EQ(folder, "/home/user/Downloads") << "that of the browser itself is removed";
  fs::remove(told);
}

TEST_F(BadBrowser, LosesEventsOfATraceAndThatIsARemark) {
  ScratchFolder const folder;
  for (auto const* const mode : {"ok", "overflows"}) {
    auto browser = Browser::start(browser_that(mode));
    ASSERT_TRUE(browser.has_value());
    auto options = page_options();
    options.trace = folder / mode;
    auto const load = (*browser)->load("http://a.test/", options);
    EXPECT_EQ(load.outcome, LoadOutcome::kLoaded) << load.failure;
    EXPECT_TRUE(fs::exists(options.trace));
    if (std::string_view(mode) == "ok") {
      EXPECT_THAT(load.remarks, IsEmpty());
    } else {
      EXPECT_THAT(load.remarks, ElementsAre(HasSubstr("the browser's buffer was full")));
    }
  }
}

TEST_F(BadBrowser, GivesFilesThatCannotBeWrittenAndTheyAreNamed) {
  ScratchFolder const folder;
  auto browser = Browser::start(browser_that("ok"));
  ASSERT_TRUE(browser.has_value());
  auto options = page_options();
  options.screenshot = folder.path();
  options.trace = folder.path();
  auto const load = (*browser)->load("http://a.test/", options);
  EXPECT_EQ(load.outcome, LoadOutcome::kLoaded) << load.failure;
  auto const why = folder.path().string() + " cannot be written: Is a directory";
  EXPECT_THAT(load.unwritten_files, ElementsAre(why, why));
  EXPECT_THAT(load.remarks, IsEmpty());
}

TEST_F(BadBrowser, IsNotThereAndSaysSo) {
  BrowserOptions options;
  options.program = "/nonexistent/chromium";
  std::string failure;
  auto const browser = Browser::start(options, &failure);
  EXPECT_EQ(browser.error(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(failure, "There is no browser at /nonexistent/chromium.");
}

TEST_F(BadBrowser, IsNoProgramAndSaysSo) {
  BrowserOptions options;
  options.program = "/etc/passwd";
  std::string failure;
  auto const browser = Browser::start(options, &failure);
  EXPECT_EQ(browser.error(), std::errc::permission_denied);
  EXPECT_THAT(failure, HasSubstr("/etc/passwd could not be started: Permission denied"));
}

TEST_F(BadBrowser, ExitsAtOnceAndItsLastWordsAreTold) {
  std::string failure;
  auto const browser = Browser::start(browser_that("exits"), &failure);
  EXPECT_EQ(browser.error(), std::errc::broken_pipe);
  EXPECT_THAT(failure, HasSubstr("ended with exit status 3"));
  EXPECT_THAT(failure, HasSubstr("\"no display, sorry\""));
  expect_nothing_left();
}

TEST_F(BadBrowser, NeverAnswersAndTheStartTimesOut) {
  std::string failure;
  auto options = browser_that("silent");
  options.start_timeout = 10s;  // for it to begin, on a busy machine
  auto const browser = Browser::start(options, &failure);
  EXPECT_EQ(browser.error(), std::errc::timed_out);
  EXPECT_THAT(failure, HasSubstr("it does not answer"));
  expect_nothing_left();
}

TEST_F(BadBrowser, AnswersGarbage) {
  std::string failure;
  auto const browser = Browser::start(browser_that("garbage"), &failure);
  EXPECT_EQ(browser.error(), std::errc::bad_message);
  EXPECT_THAT(failure, HasSubstr("an invalid message"));
  expect_nothing_left();
}

TEST_F(BadBrowser, ClosesThePipeMidwayWhileItLivesOn) {
  auto const load = load_with("closes");
  EXPECT_EQ(load.outcome, LoadOutcome::kBrowserDied);
  EXPECT_THAT(load.failure, HasSubstr("it closed its connection"));
  EXPECT_FALSE(usable_);
  expect_nothing_left();
}

TEST_F(BadBrowser, DiesWhileLoading) {
  auto const load = load_with("dies");
  EXPECT_EQ(load.outcome, LoadOutcome::kBrowserDied);
  EXPECT_THAT(load.failure, HasSubstr("was ended by signal 9"));
  EXPECT_EQ(load.url, "http://a.test/");
  EXPECT_FALSE(usable_);
  expect_nothing_left();
}

TEST_F(BadBrowser, HangsWhileLoading) {
  auto const load = load_with("hangs", 300ms);
  EXPECT_EQ(load.outcome, LoadOutcome::kTimedOut);
  EXPECT_THAT(load.failure, HasSubstr("the page had not loaded"));
  EXPECT_FALSE(usable_);
  expect_nothing_left();
}

TEST_F(BadBrowser, SendsEventsWithoutEnd) {
  auto const load = load_with("floods", 3s);
  EXPECT_EQ(load.outcome, LoadOutcome::kTimedOut);
  EXPECT_THAT(load.failure, HasSubstr("the page had not loaded"));
  EXPECT_EQ(load.requests.size(), 1) << "its record is kept";
  EXPECT_FALSE(usable_);
  expect_nothing_left();
}

TEST_F(BadBrowser, AnswersANavigationAfterItsTime) {
  auto const load = load_with("late", 300ms);
  EXPECT_EQ(load.outcome, LoadOutcome::kTimedOut);
  EXPECT_TRUE(usable_);
}

TEST_F(BadBrowser, LosesTheProcessOfThePage) {
  auto const load = load_with("crashes");
  EXPECT_EQ(load.outcome, LoadOutcome::kBrowserDied);
  EXPECT_THAT(load.failure, HasSubstr("crashed"));
  EXPECT_TRUE(usable_);
}

TEST_F(BadBrowser, RefusesToOpenAPage) {
  auto const load = load_with("refuses");
  EXPECT_EQ(load.outcome, LoadOutcome::kNavigationFailed);
  EXPECT_THAT(load.failure, HasSubstr("no more pages"));
}

TEST_F(BadBrowser, RefusesAnExtension) {
  std::string failure;
  auto options = browser_that("refuses-extensions");
  options.extensions = {"/some/extension"};
  EXPECT_EQ(Browser::start(options, &failure).error(), std::errc::not_supported);
  EXPECT_EQ(failure,
            "The browser does not take the extension in /some/extension: no manifest. Correct the "
            "extension, or load without it.");
  expect_nothing_left();
}

TEST_F(BadBrowser, DiesOfAnExtension) {
  std::string failure;
  auto options = browser_that("dies-of-extensions");
  options.extensions = {"/some/extension"};
  EXPECT_EQ(Browser::start(options, &failure).error(), std::errc::broken_pipe);
  EXPECT_THAT(failure, HasSubstr("could not load the extension in /some/extension: it was ended"));
  expect_nothing_left();
}

TEST_F(BadBrowser, FailsEveryLoadAfterItDied) {
  auto browser = Browser::start(browser_that("dies"));
  ASSERT_TRUE(browser.has_value());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((*browser)->load("http://a.test/", page_options()).outcome,
              LoadOutcome::kBrowserDied);
  }
}

TEST_F(BadBrowser, IsGoneAfterItsOwnerWasKilled) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  pid_t const owner = ::fork();
  if (owner == 0) {
    auto const browser = Browser::start(browser_that("ok"));
    char const done = browser ? 'y' : 'n';
    if (::write(fds[1], &done, 1) != 1) std::_Exit(1);
    for (;;) ::pause();
  }
  char done = 0;
  ASSERT_EQ(::read(fds[0], &done, 1), 1);
  ASSERT_EQ(done, 'y');
  // The guard goes last.
  int const guard = static_cast<int>(::syscall(SYS_pidfd_open, notes().guard, 0));
  ASSERT_GE(guard, 0);
  ::kill(owner, SIGKILL);
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
  struct pollfd watched{.fd = guard, .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&watched, 1, 60'000), 1);
  ::close(guard);
  auto const left = notes();
  EXPECT_EQ(::kill(left.browser, 0), -1);
  EXPECT_EQ(::kill(left.orphan, 0), -1);
  EXPECT_FALSE(fs::exists(left.profile.parent_path()));
  ::close(fds[0]);
  ::close(fds[1]);
}

TEST_F(BadBrowser, DiesWithItsGuard) {
  auto browser = Browser::start(browser_that("ok"));
  ASSERT_TRUE(browser.has_value());
  ASSERT_EQ(::kill(notes().guard, SIGKILL), 0);
  auto const load = (*browser)->load("http://a.test/", page_options());
  EXPECT_EQ(load.outcome, LoadOutcome::kBrowserDied) << load.failure;
  browser->reset();
  EXPECT_FALSE(fs::exists(notes().profile.parent_path()));
  // Nobody is left who could know of this one.
  EXPECT_EQ(::kill(notes().orphan, SIGKILL), 0);
}

}  // namespace
}  // namespace reprise
