#include "tools/archive/given_archive.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string_view>

#include "tests/scratch_folder.h"

namespace reprise {
namespace {

TEST(GivenArchive, IsImportedIfItBeginsAsARecordingOrIsCompressed) {
  ScratchFolder const folder;
  auto const path = folder / "given";
  auto const is_imported = [&path](std::string_view start) {
    std::ofstream(path, std::ios::binary) << start << " and more";
    return GivenArchive::is_imported(path);
  };
  EXPECT_TRUE(is_imported("WARC/1.1\r\n"));
  EXPECT_TRUE(is_imported("\x1f\x8b")) << "gzip";
  EXPECT_TRUE(is_imported("\x28\xb5\x2f\xfd")) << "zstd";
  EXPECT_TRUE(is_imported("\x5d\x2a\x4d\x18")) << "zstd with a dictionary";
  EXPECT_FALSE(is_imported("some text"));
  EXPECT_FALSE(GivenArchive::is_imported(folder / "nothing"));
}

}  // namespace
}  // namespace reprise
