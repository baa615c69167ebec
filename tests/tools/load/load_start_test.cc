#include "tools/load/load_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/archive/archive_fixture.h"
#include "tests/scratch_folder.h"
#include "tools/commands.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Adds a session with this start URL.
void record_session(const std::filesystem::path& path, const std::string& page) {
  auto const writer = std::filesystem::exists(path) ? append_archive(path) : create_archive(path);
  auto session = a_session();
  session.pages = {page};
  ASSERT_TRUE(writer->begin_session(session));
  add(*writer, an_exchange(1, "/"));
  ASSERT_TRUE(writer->end_session());
  ASSERT_TRUE(writer->close());
}

TEST(PagesToLoad, AreThoseOfTheSessionThatIsReplayed) {
  ScratchFolder const folder;
  auto const path = folder / "a.reprise";
  for (auto const* const page : {"https://a.test/", "https://b.test/"}) {
    record_session(path, page);
  }
  LoadOptions options;
  options.arguments = {path.string()};
  options.replay_values["--session"] = {};
  options.replay_values["--think-time"] = {};
  EXPECT_THAT(pages_to_load(options, path).value(), ElementsAre("https://b.test/"));
  options.replay_values["--session"] = {"1"};
  EXPECT_THAT(pages_to_load(options, path).value(), ElementsAre("https://a.test/"));
  options.replay_values["--session"] = {"9"};
  auto const missing = pages_to_load(options, path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().exit_code, kExitArchive);
  EXPECT_THAT(missing.error().text, HasSubstr("a.reprise: no session 9; "));
  options.arguments.emplace_back("https://c.test/");
  EXPECT_THAT(pages_to_load(options, path).value(), ElementsAre("https://c.test/"));
}

TEST(PagesToLoad, AreUrlsOfPagesWhoeverNamedThem) {
  for (auto const* const page : {"file:///etc/passwd", "chrome://settings", "--help", "\x1b[2J"}) {
    ScratchFolder const folder;
    auto const path = folder / "a.reprise";
    record_session(path, page);
    LoadOptions options;
    options.arguments = {path.string()};
    options.replay_values["--session"] = {};
    options.replay_values["--think-time"] = {};
    auto const recorded = pages_to_load(options, path);
    ASSERT_FALSE(recorded) << page;
    EXPECT_EQ(recorded.error().exit_code, kExitArchive);
    EXPECT_THAT(recorded.error().text, HasSubstr(": the recorded start URL '"));
    EXPECT_EQ(recorded.error().text.find('\x1b'), std::string::npos);
    options.arguments.emplace_back(page);
    auto const given = pages_to_load(options, path);
    ASSERT_FALSE(given) << page;
    EXPECT_EQ(given.error().exit_code, kExitUsage);
  }
}

}  // namespace
}  // namespace reprise
