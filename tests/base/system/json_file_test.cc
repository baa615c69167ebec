#include "base/system/json_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/scratch_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

class DifferentFiles : public testing::Test {
 protected:
  static bool are_different(const fs::path& report, const fs::path& plot) {
    return are_different_files({{"--report", report}, {"--plot", plot}});
  }

  ScratchFolder folder_;
};

TEST_F(DifferentFiles, AreThoseWithOtherPaths) {
  EXPECT_TRUE(are_different(folder_ / "report", folder_ / "plot"));
  EXPECT_TRUE(are_different_files({{"--report", {}}, {"--plot", {}}, {"--link-log", {}}}));
}

TEST_F(DifferentFiles, NamesTheFlagsOfTwoThatAreTheSame) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(are_different_files(
      {{"--report", folder_ / "a"}, {"--plot", folder_ / "b"}, {"--link-log", folder_ / "a"}}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "reprise: --report and --link-log are the same file: " + (folder_ / "a").string() +
                ". Give each another name\n");
}

TEST_F(DifferentFiles, KnowsTheSameFileByAnotherPath) {
  EXPECT_FALSE(are_different("missing", fs::current_path() / "no/../missing"));
  std::ofstream(folder_ / "file") << "content";
  fs::create_symlink(folder_ / "file", folder_ / "link");
  EXPECT_FALSE(are_different(folder_ / "file", folder_ / "link"));
}

TEST_F(DifferentFiles, AreNoInputs) {
  auto const a = folder_ / "a", b = folder_ / "b";
  EXPECT_TRUE(are_different_files("FILE", {a, a}, {{"-o", b}, {"--calls", {}}}));
  EXPECT_FALSE(are_different_files("FILE", {b, a}, {{"--calls", {}}, {"-o", a}}));
  EXPECT_FALSE(are_different_files("FILE", {a}, {{"--calls", b}, {"-o", b}}));
}

TEST_F(DifferentFiles, LetsWhatIsNotReplacedBeTheSame) {
  for (auto const& path : {fs::path("-"), fs::path("/dev/null"), folder_.path()}) {
    EXPECT_TRUE(are_different(path, path)) << path;
  }
}

}  // namespace
}  // namespace reprise
