// `reprise load` with a fake browser, and with this program itself as the replay.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/commands.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::HasSubstr;

/// What stands in for `reprise replay ARCHIVE ...`; the archive's name says how it behaves.
int replay(int argc, char** argv) {
  std::string const archive = argv[2];
  std::string ready;
  std::string report;
  json::array arguments;
  for (int i = 3; i < argc; ++i) {
    arguments.emplace_back(argv[i]);
    if (std::string_view(argv[i]) == "--ready-file") ready = argv[i + 1];
    if (std::string_view(argv[i]) == "--report") report = argv[i + 1];
  }
  if (archive == "broken") {
    std::fputs("reprise: broken: this is not an archive\n", stderr);
    return kExitArchive;
  }
  sigset_t ending;
  ::sigemptyset(&ending);
  ::sigaddset(&ending, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  std::fputs("replaying: chatter\nreprise: a remark\n", stderr);
  std::ofstream(ready + ".part")
      << R"({"mode":"replay","chromium_flags":["--fake=ok","--fake-origin=mapped"],"pid":1})";
  fs::rename(ready + ".part", ready);
  if (archive == "short-lived") return kExitArchive;
  int number = 0;
  ::sigwait(&ending, &number);
  std::ofstream(report) << json::serialize(json::object{{"hits", 1}, {"arguments", arguments}});
  return kExitDone;
}

class LoadCommand : public testing::Test {
 protected:
  /// Runs `reprise load` with these arguments and the fake browser; `behind` stands behind `--`.
  int load(std::vector<std::string> arguments, const std::vector<std::string>& behind = {}) {
    CLI::App app;
    int exit_code = -1;
    add_load_command(app, behind, exit_code);
    for (auto const& more : {file_.string(), std::string("-o"), std::string("1"),
                             std::string("--quiet"), browser_, std::string("--browser")}) {
      arguments.insert(arguments.begin() + 1, more);
    }
    std::ranges::reverse(arguments);  // as CLI11 wants a vector
    testing::internal::CaptureStderr();
    try {
      app.parse(arguments);
    } catch (const CLI::ParseError& error) {
      exit_code = -error.get_exit_code();
    }
    said_ = testing::internal::GetCapturedStderr();
    std::ifstream file(file_);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    if (!text.empty()) result_ = json::parse(text).as_object();
    return exit_code;
  }

  const json::object& nth_load(std::size_t i) const {
    return result_.at("loads").as_array().at(i).as_object();
  }

  void TearDown() override { fs::remove(file_); }

  fs::path file_ = fs::path(testing::TempDir()) / ("load-" + std::to_string(::getpid()) + ".json");
  std::string browser_ = FAKE_BROWSER;
  std::string said_;
  json::object result_;
};

TEST_F(LoadCommand, LoadsEveryPageInEveryRunFromAReplay) {
  EXPECT_EQ(load({"load", "good", "http://a.test/", "http://a.test/2", "--runs", "2", "--session",
                  "3", "--match", "exact"}),
            kExitDone)
      << said_;
  EXPECT_EQ(result_.at("schema"), "reprise-load/1");
  EXPECT_EQ(result_.at("archive"), "good");
  EXPECT_EQ(result_.at("browser").at("version"), "Fake/1");
  EXPECT_THAT(json::serialize(result_.at("browser").at("flags")),
              HasSubstr("--fake-origin=mapped"));
  ASSERT_EQ(result_.at("loads").as_array().size(), 4);
  EXPECT_EQ(nth_load(3).at("url"), "http://a.test/2");
  EXPECT_EQ(nth_load(3).at("run"), 2);
  EXPECT_EQ(nth_load(3).at("outcome"), "loaded");
  ASSERT_EQ(result_.at("replays").as_array().size(), 2);
  auto const& report = result_.at("replays").at(1).at("report");
  EXPECT_EQ(report.at("hits"), 1);
  EXPECT_THAT(json::serialize(report.at("arguments")),
              HasSubstr(R"("--match","exact","--session","3")"));
  EXPECT_THAT(said_, HasSubstr("run 2 of 2, page 1 of 2: loaded http://a.test/: 1 requests"));
  EXPECT_THAT(said_, HasSubstr("reprise: a remark"));
  EXPECT_THAT(said_, testing::Not(HasSubstr("chatter")));
}

TEST_F(LoadCommand, PassesOnWhyThereIsNoReplay) {
  EXPECT_EQ(load({"load", "broken", "http://a.test/"}), kExitArchive);
  EXPECT_THAT(said_, HasSubstr("reprise: broken: this is not an archive"));
  EXPECT_TRUE(result_.at("loads").as_array().empty());
}

TEST_F(LoadCommand, PassesOnThatTheReplayEndedTooSoon) {
  EXPECT_EQ(load({"load", "short-lived", "http://a.test/", "--runs", "3"}), kExitArchive);
  EXPECT_EQ(result_.at("replays").as_array().size(), 1);
  EXPECT_EQ(result_.at("replays").at(0).at("exit_code"), kExitArchive);
}

TEST_F(LoadCommand, LoadsLiveWithTheFlagsThatItIsGiven) {
  EXPECT_EQ(
      load({"load", "--live", "http://a.test/", "--chromium-flag=--one"}, {"--two", "--three"}),
      kExitDone)
      << said_;
  EXPECT_TRUE(result_.at("archive").is_null());
  EXPECT_TRUE(result_.at("replays").as_array().empty());
  EXPECT_THAT(json::serialize(result_.at("browser").at("flags")),
              HasSubstr(R"("--one","--two","--three")"));
}

TEST_F(LoadCommand, FailsWhenAPageDoes) {
  EXPECT_EQ(load({"load", "--live", "http://a.test/", "http://b.test/"}, {"--fake=dies"}),
            kExitFailed);
  ASSERT_EQ(result_.at("loads").as_array().size(), 2);
  EXPECT_EQ(nth_load(1).at("outcome"), "browser-died");
  EXPECT_THAT(said_, HasSubstr("page 2 of 2: browser-died http://b.test/: The browser failed"));
}

TEST_F(LoadCommand, FailsWithoutABrowserAndSaysWhatToInstall) {
  browser_ = "/nonexistent/chromium";
  EXPECT_EQ(load({"load", "--live", "http://a.test/"}), kExitFailed);
  EXPECT_THAT(said_, HasSubstr("There is no browser at /nonexistent/chromium."));
  EXPECT_EQ(nth_load(0).at("outcome"), "browser-died");
}

TEST_F(LoadCommand, WantsAPage) {
  EXPECT_EQ(load({"load", "good"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("ARCHIVE URL..."));
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "replay") return reprise::replay(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
