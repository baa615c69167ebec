#include "tools/load/load_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/archive/archive_fixture.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using testing::ElementsAre;

TEST(PagesToLoad, AreThoseOfTheSessionThatIsReplayed) {
  ScratchFolder const folder;
  auto const path = folder / "a.reprise";
  for (auto const* const page : {"https://a.test/", "https://b.test/"}) {
    auto const writer = std::filesystem::exists(path) ? append_archive(path) : create_archive(path);
    auto session = a_session();
    session.pages = {page};
    ASSERT_TRUE(writer->begin_session(session));
    add(*writer, an_exchange(1, "/"));
    ASSERT_TRUE(writer->end_session());
    ASSERT_TRUE(writer->close());
  }
  LoadOptions options;
  options.arguments = {path.string()};
  options.replay_values["--session"] = {};
  EXPECT_THAT(pages_to_load(options, path).value(), ElementsAre("https://b.test/"));
  options.replay_values["--session"] = {"1"};
  EXPECT_THAT(pages_to_load(options, path).value(), ElementsAre("https://a.test/"));
  options.arguments.emplace_back("https://c.test/");
  EXPECT_THAT(pages_to_load(options, path).value(), ElementsAre("https://c.test/"));
}

}  // namespace
}  // namespace reprise
