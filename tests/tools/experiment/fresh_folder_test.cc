#include "tools/experiment/fresh_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/scratch_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(FreshFolder, HasNoFilesOfAnEarlierRunButKeepsOthers) {
  ScratchFolder const folder;
  for (auto const* const name : {"verdict.json", "notes.txt"}) std::ofstream(folder / name) << "x";
  EXPECT_TRUE(make_fresh_folder(folder.path(), {"a.json", "verdict.json"}));
  EXPECT_FALSE(fs::exists(folder / "verdict.json"));
  EXPECT_TRUE(fs::exists(folder / "notes.txt"));
  EXPECT_TRUE(make_fresh_folder(folder / "new/folder", {"a.json"}));
  EXPECT_TRUE(fs::is_directory(folder / "new/folder"));
  EXPECT_TRUE(make_fresh_folder({}, {"a.json"}));
}

TEST(FreshFolder, IsRefusedWhereNoFileCanBeCreated) {
  ScratchFolder const folder;
  std::ofstream(folder / "file") << "x";
  testing::internal::CaptureStderr();
  EXPECT_FALSE(make_fresh_folder(folder / "file/folder", {}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("Not a directory"));
  if (::geteuid() == 0) return;  // may write everywhere
  ::chmod(folder.path().c_str(), 0500);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(make_fresh_folder(folder.path(), {}));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no file can be created in "));
  ::chmod(folder.path().c_str(), 0700);
}

}  // namespace
}  // namespace reprise
