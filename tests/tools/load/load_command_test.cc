// `reprise load` with a fake browser, and with this program itself as the replay.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "tests/scratch_folder.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::HasSubstr;

/// What stands in for `reprise replay ARCHIVE ... -- COMMAND`; the archive's name says how it
/// behaves.
int replay(int argc, char** argv) {
  std::string const archive = argv[2];
  std::string ready;
  std::string report;
  json::array arguments;
  int i = 3;
  for (; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    std::string const argument = argv[i];
    arguments.emplace_back(argument);
    if (argument.starts_with("--ready-file=")) ready = argument.substr(13);
    if (argument.starts_with("--report=")) report = argument.substr(9);
  }
  if (archive == "broken") {
    std::fputs("reprise: broken: this is not an archive\n", stderr);
    return kExitArchive;
  }
  std::fputs("replaying: chatter\nreprise: a remark\n", stderr);
  std::ofstream(ready + ".part")
      << R"({"mode":"replay","chromium_flags":["--host-resolver-rules=MAP * 127.0.0.1"],"pid":1})";
  fs::rename(ready + ".part", ready);
  if (archive == "short-lived") return kExitArchive;
  auto const child = ::fork();
  if (child == 0) ::execv(argv[i + 1], argv + i + 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  json::array misses;
  if (archive == "other-site") {
    misses = {{{"method", "GET"}, {"url", "http://a.test/"}, {"reason", "no such host"}},
              {{"method", "GET"}, {"url", "http://update.test/"}, {"reason", "no such host"}}};
  }
  if (archive == "strict") {
    misses = {{{"method", "GET"}, {"url", "http://a.test/late"}, {"reason", "no such path"}}};
  }
  std::ofstream(report) << json::serialize(json::object{{"hits", archive == "not-asked" ? 0 : 1},
                                                        {"misses", misses.size()},
                                                        {"arguments", arguments},
                                                        {"distinct_misses", misses}});
  return archive == "strict" ? kExitGate : kExitDone;
}

class LoadCommand : public testing::Test {
 protected:
  /// Runs `reprise load` with these arguments and the fake browser; `behind` stands behind `--`.
  int load(std::vector<std::string> arguments, const std::vector<std::string>& behind = {}) {
    CLI::App app;
    int exit_code = -1;
    add_load_command(app, behind, exit_code);
    for (auto const& more :
         {file_.string(), std::string("-o"), std::string("1"), std::string("--quiet"),
          std::string("0"), std::string("--settle"), browser_, std::string("--browser")}) {
      arguments.insert(arguments.begin() + 1, more);
    }
    testing::internal::CaptureStderr();
    try {
      parse_words(app, std::move(arguments));
    } catch (const CLI::ParseError& error) {
      exit_code = -error.get_exit_code();
    }
    said_ = testing::internal::GetCapturedStderr();
    if (fs::is_directory(file_)) return exit_code;  // of a folder of archives
    std::ifstream file(file_);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    if (!text.empty()) result_ = json::parse(text).as_object();
    return exit_code;
  }

  const json::object& nth_load(std::size_t i) const {
    return result_.at("loads").as_array().at(i).as_object();
  }

  void TearDown() override { fs::remove_all(file_); }

  fs::path file_ = fs::path(testing::TempDir()) / ("load-" + std::to_string(::getpid()) + ".json");
  std::string browser_ = FAKE_BROWSER;
  std::string said_;
  json::object result_;
};

TEST_F(LoadCommand, LoadsEveryPageInEveryRunFromAReplayOfItsOwn) {
  EXPECT_EQ(load({"load", "good", "http://a.test/", "http://a.test/2", "--runs", "2", "--warm-up",
                  "0", "--session", "3", "--match", "exact"}),
            kExitDone)
      << said_;
  EXPECT_EQ(result_.at("schema"), "reprise-load/1");
  EXPECT_EQ(result_.at("archive"), "good");
  EXPECT_EQ(result_.at("browser").at("version"), "Fake/1");
  EXPECT_THAT(json::serialize(result_.at("browser").at("flags")),
              HasSubstr("--host-resolver-rules=MAP * 127.0.0.1"));
  ASSERT_EQ(result_.at("loads").as_array().size(), 4);
  EXPECT_EQ(nth_load(3).at("run"), 2);
  EXPECT_EQ(nth_load(3).at("outcome"), "loaded");
  EXPECT_EQ(nth_load(3).at("replay"), 3);
  EXPECT_EQ(nth_load(3).at("hits"), 1);
  ASSERT_EQ(result_.at("replays").as_array().size(), 4);
  auto const& report = result_.at("replays").at(1).at("report");
  EXPECT_EQ(report.at("hits"), 1);
  EXPECT_THAT(json::serialize(report.at("arguments")),
              HasSubstr(R"("--match=exact","--session=3")"));
  EXPECT_THAT(said_, HasSubstr("4 of 4: loaded http://a.test/"));
  EXPECT_THAT(said_, HasSubstr("reprise: a remark"));
  EXPECT_THAT(said_, testing::Not(HasSubstr("chatter")));
}

TEST_F(LoadCommand, LoadsAPageOnceThatIsGivenTwice) {
  EXPECT_EQ(load({"load", "good", "http://a.test/", "http://a.test/2", "http://a.test/"}),
            kExitDone)
      << said_;
  ASSERT_EQ(result_.at("loads").as_array().size(), 2);
  EXPECT_EQ(nth_load(0).at("url"), "http://a.test/");
  EXPECT_EQ(nth_load(1).at("url"), "http://a.test/2");
}

TEST_F(LoadCommand, LoadsAllCombinationsInARandomOrderThatItsSeedGives) {
  std::vector<std::string> const arguments{
      "load",   "good", "http://a.test/", "--runs",         "2",      "--protocol", "h1,h2",
      "--link", "none", "--link",         "wpt:4g,loss=1%", "--seed", "5"};
  EXPECT_EQ(load(arguments), kExitDone) << said_;
  ASSERT_EQ(result_.at("loads").as_array().size(), 12);
  EXPECT_EQ(result_.at("seed"), 5);
  auto const order_of = [this] {
    std::vector<std::string> all;
    for (auto const& each : result_.at("loads").as_array()) {
      all.push_back(json::serialize(each.at("configuration")));
    }
    return all;
  };
  auto const order = order_of();
  EXPECT_EQ(std::ranges::count_if(order, [](auto const& c) { return c.contains("loss=1%"); }), 6);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(nth_load(i).at("warm_up"), i < 4);
  EXPECT_EQ(nth_load(11).at("order"), 12);
  EXPECT_THAT(said_, HasSubstr("left: h1, none: loaded http://a.test/"));
  // A busy machine disturbs some.
  EXPECT_THAT(said_, testing::ContainsRegex("http://a.test/ .h2, wpt:4g,loss=1%.      [0-2] "));
  EXPECT_EQ(load(arguments), kExitDone);
  EXPECT_EQ(order_of(), order);
}

// The fake browser's loads all take the same, so that nothing is gained by more of them.
TEST_F(LoadCommand, LoadsEachAFewTimesWithABudget) {
  EXPECT_EQ(load({"load", "good", "http://a.test/", "--protocol", "h1,h2", "--budget", "1h"}),
            kExitDone)
      << said_;
  EXPECT_EQ(result_.at("loads").as_array().size(), 12);
  EXPECT_THAT(said_, testing::AnyOf(HasSubstr("the load events of the first ones are all alike"),
                                    HasSubstr("  disturbed: ")));
  EXPECT_THAT(said_, testing::AnyOf(HasSubstr("standard errors of the load events: 0.00 ms in all"),
                                    HasSubstr("  disturbed: ")));
  EXPECT_EQ(load({"load", "good", "http://a.test/", "--budget", "1 day"}), kExitUsage);
}

TEST_F(LoadCommand, SaysThatTheStandardErrorsOfABudgetAreUnknown) {
  EXPECT_EQ(load({"load", "other-site", "http://a.test/", "--protocol", "h1,h2", "--runs", "2",
                  "--budget", "1h"}),
            kExitFailed);
  EXPECT_THAT(said_, HasSubstr("standard errors of the load events: unknown, since fewer"));
}

TEST_F(LoadCommand, SaysThatTheFirstLoadsOfABudgetFailed) {
  EXPECT_EQ(load({"load", "other-site", "http://a.test/", "--runs", "2", "--budget", "1h"}),
            kExitFailed);
  EXPECT_EQ(result_.at("loads").as_array().size(), 3);
  EXPECT_THAT(said_, HasSubstr("fewer than two of the first ones of each have a load event"));
  EXPECT_THAT(said_, testing::Not(HasSubstr("alike")));
}

TEST_F(LoadCommand, RefusesMoreLoadsThanAResultHoldsBeforeTheFirst) {
  EXPECT_EQ(load({"load", "good", "http://a.test/", "--runs", "100000"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("100001 loads are too many for a result, which holds 100000: use a "
                               "smaller --runs\n"));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(LoadCommand, CountsTwoFirstLoadsOfABudgetAtLeast) {
  EXPECT_EQ(load({"load", "good", "http://a.test/", "--runs", "1", "--budget", "1h"}), kExitDone)
      << said_;
  ASSERT_EQ(result_.at("loads").as_array().size(), 3);
  EXPECT_EQ(nth_load(0).at("warm_up"), true);
  EXPECT_EQ(nth_load(2).at("warm_up"), false);
  EXPECT_THAT(said_, testing::AnyOf(HasSubstr("the load events of the first ones are all alike"),
                                    HasSubstr("  disturbed: ")));
}

TEST_F(LoadCommand, NamesTheFilesOfEachArchiveOfAFolderForIt) {
  fs::create_directory(file_);
  for (auto const* const name : {"one", "two"}) {
    std::ofstream(file_ / (std::string(name) + ".reprise")) << "an archive";
  }
  auto const hars = file_ / "har";
  EXPECT_EQ(load({"load", file_.string(), "http://a.test/", "--har", hars.string()}), kExitDone)
      << said_;
  for (auto const* const name : {"one-load-0001.har", "two-load-0001.har"}) {
    EXPECT_TRUE(fs::exists(hars / name)) << name;
  }
}

TEST_F(LoadCommand, ImportsAFolderThatMahimahiRecorded) {
  auto const field = [](char tag, const std::string& bytes) {
    return std::string{tag, static_cast<char>(bytes.size())} + bytes;
  };
  auto const host = field('\x12', field('\n', "Host") + field('\x12', "a.test"));
  ScratchFolder const folder;
  std::ofstream(folder / "save.1")
      << field('\n', "192.0.2.1") + "\x10\x50\x18\x01" +
             field('\x22', field('\n', "GET / HTTP/1.1") + host) +
             field('\x2a', field('\n', "HTTP/1.1 200 OK") + field('\x1a', "body"));
  EXPECT_EQ(load({"load", folder.path().string(), "http://a.test/"}), kExitDone) << said_;
  EXPECT_EQ(result_.at("archive"), folder.path().c_str());
  EXPECT_EQ(nth_load(0).at("outcome"), "loaded");
  EXPECT_THAT(said_, HasSubstr("for this run only"));
}

TEST_F(LoadCommand, SaysThatTheArchiveDoesNotHaveThePage) {
  EXPECT_EQ(load({"load", "other-site", "http://a.test/"}), kExitFailed);
  EXPECT_EQ(nth_load(0).at("outcome"), "not-in-archive");
  EXPECT_THAT(said_, HasSubstr("The archive has no answer for http://a.test/: no such host."));
  EXPECT_EQ(json::serialize(nth_load(0).at("browser_requests")), R"(["GET http://update.test/"])");
}

TEST_F(LoadCommand, SaysThatTheBrowserLoadedThePageFromElsewhere) {
  EXPECT_EQ(load({"load", "not-asked", "http://a.test/"}), kExitFailed);
  EXPECT_EQ(nth_load(0).at("outcome"), "not-in-archive");
  EXPECT_THAT(said_, HasSubstr("The browser did not ask the replay for the page"));
}

TEST_F(LoadCommand, MergesTheUsersRulesWithThoseOfTheReplay) {
  EXPECT_EQ(load({"load", "good", "http://a.test/",
                  "--chromium-flag=--host-resolver-rules=MAP b.test 127.0.0.1:9"}),
            kExitDone)
      << said_;
  EXPECT_THAT(json::serialize(result_.at("browser").at("flags")),
              HasSubstr("--host-resolver-rules=MAP b.test 127.0.0.1:9,MAP * 127.0.0.1"));
}

TEST_F(LoadCommand, GoesOnWhenAReplayIsNotWhatItShouldBe) {
  EXPECT_EQ(load({"load", "strict", "http://a.test/", "--runs", "2"}), kExitGate);
  EXPECT_EQ(result_.at("loads").as_array().size(), 3);
  EXPECT_THAT(said_, HasSubstr(", 1 miss\n"));
  EXPECT_THAT(said_, HasSubstr("\nreprise: exit status 5: misses in 3 of 3 loads, such as GET "
                               "http://a.test/late (no such path)\n"));
}

TEST_F(LoadCommand, SaysWhyASingleStrictLoadEndsWithFive) {
  EXPECT_EQ(load({"load", "strict", "http://a.test/"}), kExitGate);
  EXPECT_THAT(said_, HasSubstr("misses in 1 of 1 load, such as GET http://a.test/late"));
}

TEST_F(LoadCommand, RefusesWhatCannotBeCombined) {
  EXPECT_EQ(load({"load", "good", "http://a.test/", "--protocol", "h4"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("not h4"));
  EXPECT_EQ(load({"load", "--live", "http://a.test/", "--link", "wpt:4g"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("reprise shape"));
  EXPECT_EQ(load({"load", "--live", "http://a.test/", "--think-time", "200"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("--think-time needs an archive"));
  EXPECT_EQ(load({"load", "--live", "http://a.test/", "--shaper", "packet"}), kExitUsage);
  EXPECT_EQ(load({"load", "--live", "--record-to", "x.reprise", "http://a.test/"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("cannot be used with --live"));
  EXPECT_EQ(load({"load", "--record-to", "x.reprise", "http://a.test/", "--cache", "hot"}),
            kExitUsage);
  EXPECT_FALSE(std::filesystem::exists("x.reprise"));
  browser_ = "firefox-esr";
  EXPECT_EQ(load({"load", "good", "http://a.test/", "--cpu-throttle", "4"}), kExitUsage);
}

TEST_F(LoadCommand, SaysWhatHasNoEffectWithoutALink) {
  auto const without_link = HasSubstr("--origin-rtt has no effect");
  EXPECT_EQ(load({"load", "good", "http://a.test/", "--origin-rtt", "recorded"}), kExitDone);
  EXPECT_THAT(said_, without_link);
  for (auto const* const link : {"--link=wpt:4g,none", "--shaper=packet"}) {
    EXPECT_EQ(load({"load", "good", "http://a.test/", link, "--origin-rtt=recorded"}), kExitDone);
    EXPECT_THAT(said_, testing::Not(without_link));
  }
}

TEST_F(LoadCommand, PassesOnWhyThereIsNoReplay) {
  EXPECT_EQ(load({"load", "broken", "http://a.test/"}), kExitArchive);
  EXPECT_THAT(said_, HasSubstr("reprise: broken: this is not an archive"));
  EXPECT_TRUE(result_.at("loads").as_array().empty());
}

TEST_F(LoadCommand, PassesOnThatTheReplayEndedTooSoon) {
  EXPECT_EQ(load({"load", "short-lived", "http://a.test/", "--runs", "3"}), kExitArchive);
  ASSERT_EQ(result_.at("replays").as_array().size(), 1);
  EXPECT_EQ(result_.at("replays").at(0).at("exit_code"), kExitArchive);
  EXPECT_TRUE(result_.at("loads").as_array().empty());
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
  EXPECT_THAT(said_, HasSubstr("browser-died http://b.test/: The browser failed"));
}

TEST_F(LoadCommand, LeavesNoFilesOfAnEarlierRunWhenTheBrowserDies) {
  ScratchFolder const folder;
  for (auto const* const name : {"load-0001.png", "load-0001.trace.json.gz"}) {
    std::ofstream(folder / name) << "of an earlier run";
  }
  EXPECT_EQ(load({"load", "--live", "http://a.test/", "--trace", folder.path().string(),
                  "--screenshot", folder.path().string()},
                 {"--fake=dies"}),
            kExitFailed);
  EXPECT_EQ(nth_load(0).at("outcome"), "browser-died") << said_;
  EXPECT_FALSE(nth_load(0).contains("trace"));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(LoadCommand, EndsAtAFileThatCannotBeWrittenAndKeepsTheLoad) {
  ScratchFolder const folder;
  for (auto const* const name : {"load-0001.png", "load-0001.trace.json.gz"}) {
    fs::create_directory(folder / name);
  }
  EXPECT_EQ(load({"load", "--live", "http://a.test/", "--runs", "3", "--trace",
                  folder.path().string(), "--screenshot", folder.path().string()}),
            kExitFailed);
  ASSERT_EQ(result_.at("loads").as_array().size(), 1);
  EXPECT_EQ(nth_load(0).at("outcome"), "loaded") << said_;
  EXPECT_FALSE(nth_load(0).contains("trace"));
  for (auto const* const name : {"load-0001.png", "load-0001.trace.json.gz"}) {
    EXPECT_THAT(said_, HasSubstr("reprise: " + (folder / name).string() +
                                 " cannot be written: Is a directory\n"));
  }
}

TEST_F(LoadCommand, EndsAtAnExtensionThatTheBrowserRefusesAndNamesItsFolder) {
  ScratchFolder const extension;
  std::ofstream(extension / "manifest.json") << "{";
  for (auto const* const from : {"--live", "good"}) {
    EXPECT_EQ(load({"load", from, "http://a.test/", "--runs", "3", "--extension",
                    extension.path().string(), "--chromium-flag=--fake=refuses-extensions"}),
              kExitFailed);
    EXPECT_THAT(said_, HasSubstr("reprise: The browser does not take the extension in " +
                                 extension.path().string() + ": no manifest. Correct the"));
    EXPECT_TRUE(result_.at("loads").as_array().empty());
  }
}

TEST_F(LoadCommand, EndsAtABrowserThatIsMissingOrNoProgram) {
  for (auto const& [browser, why] :
       {std::pair{"/nonexistent/chromium", "reprise: There is no browser at /nonexistent/chromium"},
        std::pair{"/etc/passwd", "reprise: /etc/passwd could not be started: Permission denied"}}) {
    browser_ = browser;
    for (auto const* const from : {"--live", "good"}) {
      EXPECT_EQ(load({"load", from, "http://a.test/", "http://b.test/"}), kExitFailed);
      EXPECT_THAT(said_, HasSubstr(why));
      EXPECT_FALSE(fs::exists(file_)) << "nothing was started";
    }
  }
}

TEST_F(LoadCommand, WantsAPage) {
  EXPECT_EQ(load({"load", "--live"}), kExitUsage);
  EXPECT_THAT(said_, HasSubstr("ARCHIVE [URL...]"));
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "replay") return reprise::replay(argc, argv);
  if (argc > 2 && std::string_view(argv[1]) == "load-page") {
    CLI::App app;
    int exit_code = reprise::kExitFailed;
    reprise::add_load_page_command(app, exit_code);
    CLI11_PARSE(app, argc, argv);
    return exit_code;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
