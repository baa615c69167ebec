#include "archive/reader.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/copy.h"
#include "archive/record.h"
#include "base/http/crc32c.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class Reader : public testing::Test {
 protected:
  std::error_code error_of(std::string_view bytes) {
    write_file(path_, bytes);
    auto const reader = ArchiveReader::open(path_, {});
    return reader ? std::error_code() : reader.error();
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
};

std::string header_of_version(std::uint32_t version) {
  std::string header("REPRISE\0\0\0\0\0\0\0\0\0", 16);
  auto* const bytes = reinterpret_cast<std::byte*>(header.data());
  store_u32(bytes + 8, version);
  store_u32(bytes + 12, crc32c(as_bytes(header).first(12)));
  return header;
}

TEST_F(Reader, RefusesForeignFiles) {
  EXPECT_EQ(error_of(""), archive_errc::not_an_archive);
  EXPECT_EQ(error_of("x"), archive_errc::not_an_archive);
  EXPECT_EQ(error_of("<!doctype html><title>Not an archive</title>"), archive_errc::not_an_archive);
  EXPECT_EQ(error_of("REPRISE\1 with a wrong last byte"), archive_errc::not_an_archive);
}

TEST_F(Reader, NamesANewerVersionAsSuchButNotADamagedOne) {
  EXPECT_EQ(error_of(header_of_version(1)), std::error_code());
  EXPECT_EQ(error_of(header_of_version(2)), archive_errc::newer_version);
  EXPECT_EQ(error_of(header_of_version(UINT32_MAX)), archive_errc::newer_version);
  EXPECT_EQ(error_of(header_of_version(0)), archive_errc::bad_header);
  auto damaged = header_of_version(1);
  damaged[8] ^= 2;
  EXPECT_EQ(error_of(damaged), archive_errc::bad_header);
  EXPECT_EQ(error_of(header_of_version(1).substr(0, 12)), archive_errc::bad_header);
}

TEST_F(Reader, RefusesWhatIsNoRegularFile) {
  EXPECT_EQ(ArchiveReader::open(folder_ / "", {}).error(), std::errc::is_a_directory);
  EXPECT_EQ(ArchiveReader::open(folder_ / "missing", {}).error(),
            std::errc::no_such_file_or_directory);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(ArchiveReader::open(path_, {}).error(), archive_errc::not_an_archive);
}

TEST_F(Reader, ReportsAFileThatItMayNotRead) {
  write_file(path_, header_of_version(1));
  ASSERT_EQ(::chmod(path_.c_str(), 0), 0);
  ASSERT_EQ(::chmod(path_.parent_path().c_str(), 0755), 0);
  // Root may read everything, so it is somebody else for the moment.
  auto const user = ::geteuid();
  if (user == 0) ASSERT_EQ(::seteuid(65534), 0);
  auto const reader = ArchiveReader::open(path_, {});
  if (user == 0) ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(reader.error(), std::errc::permission_denied);
}

TEST_F(Reader, SkipsRecordsOfKindsThatALaterVersionAdds) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  add(*writer, an_exchange(1, "/"));
  auto bytes = read_file(path_);
  std::string_view const payload = "learnt";
  auto const header =
      encode_record_header(static_cast<RecordKind>(777), static_cast<std::uint32_t>(payload.size()),
                           crc32c(as_bytes(payload)));
  bytes += as_text(header);
  bytes += payload;
  bytes += std::string(2, '\0');
  writer.reset();
  write_file(path_, bytes);
  auto const reader = open_archive(path_);
  EXPECT_EQ(reader->report().tail_lost_bytes, 0U);
  EXPECT_EQ(reader->report().damaged_records, 0U);
  EXPECT_EQ(reader->records_end(), bytes.size()) << "an append keeps it";
  EXPECT_TRUE(problems_of(*reader).empty());
  EXPECT_THAT(exchanges_of(*reader), SizeIs(1));
}

TEST_F(Reader, ListsExchangesInTheOrderOfTheirRequestsNotOfTheirEnds) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  for (std::uint64_t const sequence : {3, 1, 2}) {
    add(*writer, an_exchange(sequence, "/" + std::to_string(sequence)));
  }
  ASSERT_TRUE(writer->begin_session({}));
  add(*writer, an_exchange(1, "/4"));
  ASSERT_TRUE(writer->close());
  std::vector<std::string> targets;
  for (auto const& exchange : exchanges_of(*open_archive(path_))) {
    targets.push_back(exchange.request.target);
  }
  EXPECT_THAT(targets, ElementsAre("/1", "/2", "/3", "/4"));
}

TEST_F(Reader, PopulatesTheMapWhenAsked) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  add(*writer, a_full_exchange(*writer, 1));
  ASSERT_TRUE(writer->close());
  auto const reader = ArchiveReader::open(path_, {.populate = true});
  ASSERT_TRUE(reader);
  EXPECT_THAT(exchanges_of(**reader), SizeIs(1));
}

TEST_F(Reader, LetsNobodyCopyWhatItHasOnlyAPartOf) {
  {
    auto writer = create_archive(path_);
    ASSERT_TRUE(writer->begin_session(a_session()));
    ASSERT_TRUE(writer->add_connection(a_connection(1)));
    ASSERT_TRUE(writer->add_connection(a_connection(2)));
    ASSERT_TRUE(writer->close());
  }
  EXPECT_FALSE(open_archive(path_)->report().facts_ignored);
  auto const reader = ArchiveReader::open(path_, {.facts_memory_max = 1});
  ASSERT_TRUE(reader);
  EXPECT_TRUE((*reader)->report().facts_ignored);
  EXPECT_FALSE((*reader)->report().is_damaged());
  EXPECT_THAT(problems_of(**reader), SizeIs(1));
  auto const copy = create_archive(folder_ / "copy.reprise");
  EXPECT_EQ(ArchiveCopy(**reader, *copy).run().error(), archive_errc::too_large);
}

}  // namespace
}  // namespace reprise
