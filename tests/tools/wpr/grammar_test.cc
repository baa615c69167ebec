#include "tools/wpr/grammar.h"

#include <gmock/gmock.h>

#include <sstream>

namespace reprise::wpr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

std::expected<CommandLine, std::string> parsed(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  return parse(all);
}

TEST(WprGrammar, TakesTheCommandLineOfTelemetry) {
  auto const line = parsed(
      "replay --disable_fuzzy_url_matching --http_port=0 --https_port=0 "
      "--https_key_file=/d/wpr_key.pem --https_cert_file=/d/wpr_cert.pem "
      "--inject_scripts=/d/deterministic.js /a/page.wprgo");
  ASSERT_TRUE(line) << line.error();
  EXPECT_EQ(line->verb, Verb::kReplay);
  EXPECT_EQ(line->archive, "/a/page.wprgo");
  EXPECT_EQ(line->flags.http_port, 0);
  EXPECT_EQ(line->flags.https_port, 0);
  EXPECT_TRUE(line->flags.exact_urls);
  EXPECT_FALSE(line->flags.chronological);
  EXPECT_THAT(line->flags.key_files, ElementsAre("/d/wpr_key.pem"));
  EXPECT_THAT(line->flags.cert_files, ElementsAre("/d/wpr_cert.pem"));
  EXPECT_THAT(line->flags.inject_scripts, Optional(ElementsAre("/d/deterministic.js")));
  EXPECT_EQ(line->flags.host, "localhost");
}

TEST(WprGrammar, TakesValuesInTheNextWordAsBrowsertimeGivesThem) {
  auto const line = parsed(
      "record --http_port 80 --https_port 443 --https_cert_file C --https_key_file K "
      "--inject_scripts S /tmp/archive.wprgo");
  ASSERT_TRUE(line) << line.error();
  EXPECT_EQ(line->verb, Verb::kRecord);
  EXPECT_EQ(line->flags.http_port, 80);
  EXPECT_EQ(line->flags.https_port, 443);
  EXPECT_THAT(line->flags.inject_scripts, Optional(ElementsAre("S")));
  EXPECT_EQ(line->archive, "/tmp/archive.wprgo");
}

TEST(WprGrammar, TakesFlagsOfItsOwnWhereTheyBelong) {
  auto const line = parsed("record --http_port 80 --allow-private --reprise_clock A");
  ASSERT_TRUE(line) << line.error();
  EXPECT_TRUE(line->flags.allow_private);
  EXPECT_TRUE(line->flags.own_clock);
  EXPECT_FALSE(parsed("replay --http_port 80 --allow_private A"));
}

TEST(WprGrammar, TakesListsOfTheCapturedSites) {
  auto const line = parsed(
      "replay --https_cert_file=a/wpr_cert.pem,a/ecdsa_cert.pem "
      "--https_key_file=a/wpr_key.pem,a/ecdsa_key.pem --http_port=8080 --https_port=8081 "
      "--serve_response_in_chronological_sequence --quiet_mode "
      "--inject_scripts=deterministic.js,automation_helper.js A");
  ASSERT_TRUE(line) << line.error();
  EXPECT_THAT(line->flags.cert_files, ElementsAre("a/wpr_cert.pem", "a/ecdsa_cert.pem"));
  EXPECT_THAT(line->flags.key_files, ElementsAre("a/wpr_key.pem", "a/ecdsa_key.pem"));
  EXPECT_THAT(line->flags.inject_scripts,
              Optional(ElementsAre("deterministic.js", "automation_helper.js")));
  EXPECT_TRUE(line->flags.chronological);
  EXPECT_TRUE(line->flags.quiet);
}

TEST(WprGrammar, KnowsEveryFlagInAllItsForms) {
  for (auto const* const flag : {"--http_port=7", "--http-port=7", "-http_port=7", "-http-port=7",
                                 "--http_port 7", "-http-port 7"}) {
    auto const line = parsed("replay " + std::string(flag) + " A");
    ASSERT_TRUE(line) << flag << ": " << line.error();
    EXPECT_EQ(line->flags.http_port, 7) << flag;
    EXPECT_EQ(line->archive, "A") << flag;
  }
  for (auto const* const flag : {"--quiet_mode", "--quiet-mode=true", "-quiet_mode=1"}) {
    auto const line = parsed("replay --http_port=0 " + std::string(flag) + " A");
    ASSERT_TRUE(line) << flag << ": " << line.error();
    EXPECT_TRUE(line->flags.quiet) << flag;
  }
  auto const off = parsed("replay --http_port=0 --quiet_mode=false A");
  ASSERT_TRUE(off) << off.error();
  EXPECT_FALSE(off->flags.quiet);
}

TEST(WprGrammar, DistinguishesNoScriptFromTheDefaultScript) {
  auto const usual = parsed("replay --http_port=0 A");
  ASSERT_TRUE(usual) << usual.error();
  EXPECT_EQ(usual->flags.inject_scripts, std::nullopt);
  auto const none = parsed("replay --http_port=0 --inject_scripts= A");
  ASSERT_TRUE(none) << none.error();
  EXPECT_THAT(none->flags.inject_scripts, Optional(IsEmpty()));
}

TEST(WprGrammar, TakesFlagsAfterTheArchiveAndAnArchiveAfterDashes) {
  auto const after = parsed("replay A --https_port=0");
  ASSERT_TRUE(after) << after.error();
  EXPECT_EQ(after->flags.https_port, 0);
  auto const dashed = parsed("replay --https_port=0 -- -A");
  ASSERT_TRUE(dashed) << dashed.error();
  EXPECT_EQ(dashed->archive, "-A");
}

TEST(WprGrammar, NamesWhatIsWrong) {
  for (auto const& [line, wrong] : {
           std::pair{"recrod A", "unknown command 'recrod'"},
           {"replay --http_port=0 --no_such_flag A", "not defined: --no_such_flag"},
           {"record --http_port=0 --rules_file=R A", "not defined: --rules_file"},
           {"replay --http_port=0", "must specify archive_file"},
           {"replay --http_port=0 A B", "too many args"},
           {"replay A", "at least one port flag"},
           {"replay --http_port=x A", "'x' is not a number"},
           {"replay --http_port=65536 A", "65536 is not a port"},
           {"replay --http_port=-2 A", "-2 is not a port"},
           {"replay A --http_port", "flag needs an argument"},
           {"replay --http_port=0 --quiet_mode=maybe A", "neither true nor false"},
           {"replay --http_port=0 --https_cert_file=a,b --https_key_file=c A", "as many files"},
           {"replay --https_port=0 --https_to_http_port=1 A", "reprise replay --proxy"},
           {"record --http_port=0 --enable_experimental_timed_chunk A", "NOTIMPLEMENTED"},
           {"replay --http_port=0 --network-shaping-preset=3g A", "reprise replay --link"},
           {"installroot --android_device_id=7", "Android"},
           {"installroot --certutil_path=/x/certutil", "PATH"},
           {"installroot A", "too many args"},
       }) {
    auto const parsed_line = parsed(line);
    ASSERT_FALSE(parsed_line) << line;
    EXPECT_THAT(parsed_line.error(), HasSubstr(wrong)) << line;
  }
}

TEST(WprGrammar, AcceptsWhatChangesNothing) {
  auto const line = parsed(
      "record --http_port=0 --no_archive_certificates --https_to_http_port=-1 "
      "--relative-timestamps --js-injection=false A");
  EXPECT_TRUE(line) << line.error();
}

TEST(WprGrammar, HelpNamesEveryVerbAndFlag) {
  for (auto const* const line : {"", "help", "--help", "replay --help", "record -h A"}) {
    auto const help = parsed(line);
    ASSERT_TRUE(help) << line << help.error();
    EXPECT_EQ(help->verb, Verb::kHelp) << line;
  }
  auto const text = usage("wpr");
  for (auto const* const part : {"wpr record|replay", "installroot", "--https_cert_file",
                                 "--serve_response_in_chronological_sequence"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

}  // namespace
}  // namespace reprise::wpr
