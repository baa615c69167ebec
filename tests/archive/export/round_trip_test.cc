// What leaves and comes back is what left, as far as docs/formats.md promises: random archives, and
// real recordings where REPRISE_CORPUS names a folder of them.

#include <cstdlib>

#include "tests/archive/export/export_fixture.h"
#include "tests/archive/export/random_archive.h"
#include "tests/test_seed.h"

namespace reprise::exporting {
namespace {

namespace fs = std::filesystem;

constexpr Target kTargets[] = {Target::kHar, Target::kWarc, Target::kWprgo};

const char* name_of(Target target) {
  return target == Target::kHar ? "har" : target == Target::kWarc ? "warc" : "wprgo";
}

/// There and back through each target, twice.
void go_round(const ArchiveReader& before) {
  for (Target const target : kTargets) {
    SCOPED_TRACE(name_of(target));
    ScratchFolder folder;
    auto const exported = export_as(before, target, target == Target::kWarc);
    ASSERT_FALSE(exported.fault) << exported.fault->what;
    EXPECT_EQ(exported.text, export_as(before, target, target == Target::kWarc).text);
    ASSERT_NO_FATAL_FAILURE(import_into(folder / "one.reprise", exported.text));
    ASSERT_NO_FATAL_FAILURE(import_into(folder / "two.reprise", exported.text));
    EXPECT_EQ(read_file(folder / "one.reprise"), read_file(folder / "two.reprise"));
    auto const after = open_archive(folder / "one.reprise");
    expect_kept(target, before, *after);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RoundTrip, RandomArchivesComeBack) {
  for_seeds(12, [](std::uint64_t seed) {
    ScratchFolder folder;
    auto writer = create_archive(folder / "a.reprise");
    write_random_session(*writer, seed);
    ASSERT_TRUE(writer->close());
    writer.reset();
    go_round(*open_archive(folder / "a.reprise"));
  });
}

/// Whatever an archive holds, what an export makes of it can be read.
void leave_and_come_back(const ArchiveReader& archive) {
  for (Target const target : kTargets) {
    SCOPED_TRACE(name_of(target));
    ScratchFolder folder;
    auto const exported = export_as(archive, target);
    if (!exported.fault) import_into(folder / "again.reprise", exported.text);
  }
}

TEST(RoundTrip, ArchivesOfStrangersLeaveAsFilesThatAreWhole) {
  std::size_t archives = 0;
  for (auto const& entry : fs::recursive_directory_iterator(FUZZ_CORPUS)) {
    auto const kind = entry.path().parent_path().filename().string();
    SCOPED_TRACE(entry.path());
    ScratchFolder folder;
    if (kind == "archive_reader") {
      fs::copy_file(entry.path(), folder / "a.reprise");
    } else if (kind.starts_with("import_") && entry.is_regular_file()) {
      auto writer = create_archive(folder / "a.reprise");
      importing::ArchiveSink sink(*writer);
      importing::Importer importer(sink, true);
      importer.read_path(entry.path(), nullptr);
      ASSERT_FALSE(importer.finish());
      ASSERT_TRUE(writer->close());
    } else {
      continue;
    }
    auto const archive = ArchiveReader::open(folder / "a.reprise", {});
    if (!archive || choose_session(**archive, 0) == 0) continue;
    ++archives;
    leave_and_come_back(**archive);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(archives, 15U);
}

TEST(RoundTrip, RealRecordingsComeBack) {
  auto const* const corpus = std::getenv("REPRISE_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "REPRISE_CORPUS names no folder";
  std::size_t rounds = 0;
  for (auto const& entry : fs::recursive_directory_iterator(corpus)) {
    if (!entry.is_regular_file() || entry.file_size() > (32 << 20)) continue;
    SCOPED_TRACE(entry.path());
    ScratchFolder folder;
    auto writer = create_archive(folder / "a.reprise");
    importing::ArchiveSink sink(*writer);
    importing::Importer importer(sink, true);
    importer.read_path(entry.path(), nullptr);
    ASSERT_FALSE(importer.finish());
    if (importer.report().exchanges == 0) continue;
    ASSERT_TRUE(writer->end_session());
    ASSERT_TRUE(writer->close());
    writer.reset();
    ++rounds;
    go_round(*open_archive(folder / "a.reprise"));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(rounds, 50U);
}

}  // namespace
}  // namespace reprise::exporting
