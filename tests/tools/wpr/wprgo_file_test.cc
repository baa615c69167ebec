#include "tools/wpr/wprgo_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "tests/scratch_folder.h"

namespace reprise::wpr {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WprgoFile : public testing::Test {
 protected:
  static std::string write_new(const fs::path& part) {
    std::ofstream(part) << "new";
    return {};
  }
  static std::string text_of_file(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  ScratchFolder folder_;
};

TEST_F(WprgoFile, LeavesWhatTheUserHasBesideIt) {
  std::ofstream(folder_ / "a.wprgo.new") << "of the user";
  EXPECT_EQ(replace_once_whole(folder_ / "a.wprgo", write_new), "");
  EXPECT_EQ(text_of_file(folder_ / "a.wprgo"), "new");
  EXPECT_EQ(text_of_file(folder_ / "a.wprgo.new"), "of the user");
  EXPECT_EQ(file_count(), 2);
}

TEST_F(WprgoFile, IsUnchangedAfterAProblem) {
  std::ofstream(folder_ / "a.wprgo") << "old";
  EXPECT_EQ(replace_once_whole(folder_ / "a.wprgo",
                               [](const fs::path&) { return std::string("a problem"); }),
            "a problem");
  EXPECT_EQ(text_of_file(folder_ / "a.wprgo"), "old");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(WprgoFile, ReplacesTheFileBehindALink) {
  fs::create_symlink("target", folder_ / "a.wprgo");
  EXPECT_EQ(why_not_writable(folder_ / "a.wprgo"), "");
  EXPECT_EQ(replace_once_whole(folder_ / "a.wprgo", write_new), "");
  EXPECT_TRUE(fs::is_symlink(folder_ / "a.wprgo"));
  EXPECT_EQ(text_of_file(folder_ / "target"), "new");
}

TEST_F(WprgoFile, ReplacesNothingButFiles) {
  auto const fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink(fifo, folder_ / "link");
  for (auto const& path : {fifo, folder_ / "link", folder_.path()}) {
    EXPECT_THAT(why_not_writable(path), HasSubstr(path.string() + ": not a regular file"));
    EXPECT_THAT(replace_once_whole(path, write_new), HasSubstr("not a regular file"));
  }
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_EQ(file_count(), 2);
}

TEST_F(WprgoFile, NeedsAFolder) {
  EXPECT_THAT(why_not_writable(folder_ / "no/a.wprgo"), HasSubstr("No such file"));
  EXPECT_EQ(why_not_writable(folder_ / "a.wprgo"), "");
}

}  // namespace
}  // namespace reprise::wpr
