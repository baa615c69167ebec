#include "tools/predict/tested_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/system/text_file.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TestedPage a_tested_page(const std::string& url) {
  return {.graph = {.page = url,
                    .loads = 4,
                    .nodes = {{.kind = DependencyNodeKind::kRequest, .name = url},
                              {.kind = DependencyNodeKind::kMilestone, .name = "load event"}},
                    .edges = {}},
          .tests = {{.held = {0}, .waits = {std::nullopt, true}}}};
}

class KeptTests : public testing::Test {
 protected:
  ScratchFolder folder_;
  TestedFile file_{folder_ / "page.reprise"};
};

TEST_F(KeptTests, StandBesideTheArchiveByTheUrlOfThePage) {
  EXPECT_EQ(file_.path(), folder_ / "page.reprise.dependency.json");
  EXPECT_TRUE(file_.pages("ab")->empty());
  EXPECT_FALSE(file_.keep("ab", a_tested_page("https://a.test/")));
  EXPECT_FALSE(file_.keep("ab", a_tested_page("https://b.test/")));
  EXPECT_EQ(file_.pages("ab")->size(), 2U);
  auto const page = file_.page("ab", "https://a.test/");
  ASSERT_TRUE(page && *page);
  EXPECT_EQ((*page)->tests, a_tested_page("https://a.test/").tests);
  EXPECT_FALSE(file_.page("ab", "https://c.test/")->has_value());
  auto const others = fs::perms::group_all | fs::perms::others_all;
  EXPECT_EQ(fs::status(file_.path()).permissions() & others, fs::perms::none);
}

TEST_F(KeptTests, OfAnotherContentAreIgnoredAndReplaced) {
  EXPECT_FALSE(file_.keep("ab", a_tested_page("https://a.test/")));
  auto const refused = file_.page("cd", "https://a.test/");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(),
              HasSubstr("page.reprise.dependency.json is ignored: the archive has changed"));
  EXPECT_FALSE(file_.keep("cd", a_tested_page("https://b.test/")));
  EXPECT_EQ(file_.pages("cd")->size(), 1U);
}

TEST_F(KeptTests, ThatCannotBeReadAreIgnored) {
  std::ofstream(file_.path()) << "{}";
  EXPECT_THAT(file_.pages("ab").error(), HasSubstr("is ignored: schema must be"));
  fs::remove(file_.path());
  fs::create_directory(file_.path());
  EXPECT_THAT(file_.pages("ab").error(), HasSubstr("is ignored: "));
}

TEST_F(KeptTests, ThatCannotBeWrittenSayWhy) {
  TestedFile const elsewhere(folder_ / "absent/page.reprise");
  auto const lost = elsewhere.keep("ab", a_tested_page("https://a.test/"));
  ASSERT_TRUE(lost);
  EXPECT_THAT(*lost, HasSubstr("dependency.json cannot be written: No such file"));
}

TEST_F(KeptTests, ReplaceASymbolicLinkAndNotItsTarget) {
  auto const target = folder_ / "target";
  std::ofstream(target) << "mine";
  fs::create_symlink(target, file_.path());
  EXPECT_FALSE(file_.keep("ab", a_tested_page("https://a.test/")));
  EXPECT_EQ(contents_of(target), "mine");
  EXPECT_EQ(file_.pages("ab")->size(), 1U);
}

}  // namespace
}  // namespace reprise
