#include "archive/writer.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/codec.h"
#include "archive/open_file.h"
#include "archive/record_file.h"
#include "base/http/crc32c.h"
#include "base/http/digest.h"
#include "tests/archive/archive_fixture.h"
#include "tests/archive/file_size_limit.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> targets_of(const ArchiveReader& reader) {
  std::vector<std::string> targets;
  for (auto const& exchange : exchanges_of(reader)) targets.push_back(exchange.request.target);
  return targets;
}

class Writer : public testing::Test {
 protected:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
};

TEST_F(Writer, MakesAFileThatOnlyItsOwnerReads) {
  auto const writer = create_archive(path_);
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(Writer, NeverOverwrites) {
  write_file(path_, "precious");
  EXPECT_EQ(ArchiveWriter::create(path_, {}).error(), archive_errc::already_exists);
  EXPECT_EQ(read_file(path_), "precious");
}

TEST_F(Writer, ReportsAFolderThatIsMissing) {
  EXPECT_EQ(ArchiveWriter::create(folder_ / "no/a", {}).error(),
            std::errc::no_such_file_or_directory);
}

TEST_F(Writer, KeepsOthersOffUntilItCloses) {
  auto writer = create_archive(path_);
  EXPECT_EQ(ArchiveReader::open(path_, {}).error(), archive_errc::locked);
  EXPECT_EQ(ArchiveWriter::append(path_, {}).error(), archive_errc::locked);
  EXPECT_TRUE(ArchiveReader::open(path_, {.lock = false}));
  ASSERT_TRUE(writer->close());
  auto const first = open_archive(path_);
  auto const second = open_archive(path_);
  EXPECT_EQ(ArchiveWriter::append(path_, {}).error(), archive_errc::locked);
}

TEST_F(Writer, RefusesToWriteAfterClose) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  ASSERT_TRUE(writer->close());
  auto const bytes = read_file(path_);
  EXPECT_EQ(writer->add_exchange(an_exchange(1, "/")).error(), std::errc::bad_file_descriptor);
  EXPECT_EQ(writer->close().error(), std::errc::bad_file_descriptor);
  EXPECT_EQ(read_file(path_), bytes);
}

TEST_F(Writer, WithFsyncWritesTheSameFile) {
  for (bool const fsync : {false, true}) {
    auto writer = *ArchiveWriter::create(folder_ / (fsync ? "yes" : "no"), {.fsync = fsync});
    ASSERT_TRUE(writer->begin_session({}));
    add(*writer, a_full_exchange(*writer, 1));
    ASSERT_TRUE(writer->end_session());
    ASSERT_TRUE(writer->close());
  }
  EXPECT_EQ(read_file(folder_ / "yes"), read_file(folder_ / "no"));
}

TEST_F(Writer, WhatItAcceptedIsInTheFileWithoutClose) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    add(*writer, a_full_exchange(*writer, i));
    auto const reader = ArchiveReader::open(path_, {.lock = false});
    ASSERT_TRUE(reader);
    EXPECT_EQ((*reader)->entries().size(), i);
    EXPECT_EQ((*reader)->report().tail_lost_bytes, 0U);
  }
}

TEST_F(Writer, OnAFullDiskLeavesAWholeFileAtEveryPossibleLimit) {
  // How far a run gets under each limit; the file must hold just what was accepted.
  auto const run = [this](std::vector<std::string>& accepted) {
    auto created = ArchiveWriter::create(path_, {});
    if (!created) return;
    auto& writer = **created;
    if (!writer.begin_session({})) return;
    for (std::uint64_t i = 1; i <= 3; ++i) {
      auto const target = "/" + std::to_string(i);
      auto exchange = an_exchange(i, target);
      BodyWriter body(writer);
      if (!body.append(as_bytes("response " + target))) continue;
      auto stored = body.finish();
      if (!stored) continue;
      exchange.response.body = *stored;
      if (writer.add_exchange(exchange)) accepted.push_back(target);
    }
    static_cast<void>(writer.close());
  };
  std::vector<std::string> all;
  run(all);
  ASSERT_THAT(all, ElementsAre("/1", "/2", "/3"));
  auto const full_size = std::filesystem::file_size(path_);
  for (std::uint64_t limit = 0; limit < full_size; ++limit) {
    SCOPED_TRACE(limit);
    std::filesystem::remove(path_);
    std::vector<std::string> accepted;
    {
      FileSizeLimit const full_disk(limit);
      run(accepted);
    }
    if (!std::filesystem::exists(path_)) {
      EXPECT_LT(limit, 16U) << "only the first write may fail so that no file is left";
      continue;
    }
    auto const reader = open_archive(path_);
    EXPECT_EQ(reader->report().tail_lost_bytes, 0U);
    EXPECT_EQ(reader->report().damaged_records, 0U);
    EXPECT_EQ(targets_of(*reader), accepted);
    EXPECT_THAT(problems_of(*reader), IsEmpty());
  }
}

TEST_F(Writer, GoesOnWhenTheDiskHasRoomAgain) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  auto const large = noise(3 << 20, 1);
  add(*writer, an_exchange(1, "/before"));
  {
    FileSizeLimit const full_disk(writer->size_bytes() + 700'000);
    BodyWriter lost(*writer);
    auto const appended = lost.append(as_bytes(large));
    EXPECT_EQ(appended.error(), std::errc::file_too_large);
    EXPECT_EQ(lost.append(as_bytes("more")).error(), std::errc::file_too_large);
    EXPECT_EQ(lost.finish().error(), std::errc::file_too_large);
    EXPECT_EQ(std::filesystem::file_size(path_), writer->size_bytes());
  }
  auto exchange = an_exchange(2, "/after");
  exchange.response.body = store(*writer, large);
  add(*writer, exchange);
  ASSERT_TRUE(writer->close());
  auto const reader = open_archive(path_);
  EXPECT_THAT(targets_of(*reader), ElementsAre("/before", "/after"));
  EXPECT_THAT(problems_of(*reader), IsEmpty());
}

TEST_F(Writer, SaysThatItsFileIsGone) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  add(*writer, an_exchange(1, "/lost"));
  std::filesystem::remove(path_);
  write_file(path_, "another file of that name");
  ASSERT_TRUE(writer->end_session());
  EXPECT_EQ(writer->close().error(), archive_errc::removed);
}

class Append : public Writer {
 protected:
  /// One session with one exchange; returns the file's bytes before and after close().
  std::pair<std::string, std::string> record(const char* target) {
    auto writer = create_archive(path_);
    EXPECT_TRUE(writer->begin_session({}));
    auto exchange = an_exchange(1, target);
    exchange.response.body = store(*writer, "shared body");
    add(*writer, exchange);
    EXPECT_TRUE(writer->end_session());
    auto const unclosed = read_file(path_);
    EXPECT_TRUE(writer->close());
    return {unclosed, read_file(path_)};
  }

  void append(const char* target) {
    auto writer = append_archive(path_);
    EXPECT_EQ(*writer->begin_session({}), 2U);
    auto exchange = an_exchange(1, target);
    auto const before = writer->size_bytes();
    exchange.response.body = store(*writer, "shared body");
    EXPECT_EQ(writer->size_bytes(), before) << "the body is there already";
    add(*writer, exchange);
    EXPECT_EQ(writer->exchange_count(), 2U);
    EXPECT_TRUE(writer->end_session());
    EXPECT_TRUE(writer->close());
  }

  void expect_both() {
    auto const reader = open_archive(path_);
    EXPECT_TRUE(reader->report().indexed);
    EXPECT_THAT(targets_of(*reader), ElementsAre("/one", "/two"));
    ASSERT_EQ(reader->sessions().size(), 2U);
    EXPECT_TRUE(reader->sessions()[1].complete);
    EXPECT_THAT(problems_of(*reader), IsEmpty());
  }
};

TEST_F(Append, AddsASessionToAClosedArchive) {
  record("/one");
  append("/two");
  expect_both();
}

TEST_F(Append, AddsASessionToAnUnclosedArchive) {
  write_file(path_, record("/one").first);
  append("/two");
  expect_both();
}

TEST_F(Append, CutsOffATornTailWhereverItWasTorn) {
  auto const [unclosed, closed] = record("/one");
  for (auto size = unclosed.size(); size < closed.size(); ++size) {
    SCOPED_TRACE(size);
    write_file(path_, closed.substr(0, size));
    append("/two");
    expect_both();
    if (HasFailure()) return;
  }
}

TEST_F(Append, LeavesAClosedArchiveAloneUntilItWrites) {
  auto const closed = record("/one").second;
  append_archive(path_).reset();
  EXPECT_EQ(read_file(path_), closed);
}

TEST_F(Append, DroppedSessionLeavesTheFileAsItWas) {
  auto const closed = record("/one").second;
  auto writer = append_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  auto exchange = an_exchange(1, "/dropped");
  exchange.response.body = store(*writer, "a body of its own");
  add(*writer, exchange);
  ASSERT_TRUE(writer->drop_session());
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(read_file(path_), closed);
}

TEST_F(Append, RefusesWhenItWouldCutOffMoreThanATornTail) {
  auto bytes = record("/one").first;
  bytes[20] ^= 1;  // the first record's header: everything behind it would go
  write_file(path_, bytes);
  EXPECT_EQ(ArchiveWriter::append(path_, {}).error(), archive_errc::corrupt);
  EXPECT_EQ(read_file(path_), bytes);
}

TEST_F(Append, RefusesWhatOnlyTheIndexCanReadOn) {
  auto bytes = record("/one").second;
  bytes[20] ^= 1;  // the first record's header: without the index nothing behind it is found
  write_file(path_, bytes);
  EXPECT_EQ(ArchiveWriter::append(path_, {}).error(), archive_errc::corrupt);
  EXPECT_EQ(read_file(path_), bytes);
}

TEST_F(Append, RefusesDamageThatItsIndexWouldHide) {
  auto bytes = record("/one").first;
  bytes[bytes.find("/one")] ^= 1;  // the exchange: nothing else knows of it
  write_file(path_, bytes);
  EXPECT_EQ(ArchiveWriter::append(path_, {}).error(), archive_errc::corrupt);
  EXPECT_EQ(read_file(path_), bytes);
}

TEST_F(Append, KeepsADamagedExchangeThatTheIndexKnows) {
  auto bytes = record("/one").second;
  bytes[bytes.find("/one")] ^= 1;
  write_file(path_, bytes);
  {
    auto writer = append_archive(path_);
    ASSERT_TRUE(writer->begin_session({}));
    add(*writer, an_exchange(1, "/two"));
    ASSERT_TRUE(writer->close());
  }
  auto const reader = open_archive(path_);
  ASSERT_EQ(reader->entries().size(), 2U);
  EXPECT_EQ(reader->exchange(reader->ordinals_in_order()[0]).error(), archive_errc::corrupt);
}

TEST_F(Append, DoesNotReferToADamagedBody) {
  auto bytes = record("/one").second;
  auto const at = bytes.find("shared body");
  bytes[at] ^= 1;
  write_file(path_, bytes);
  auto writer = append_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  auto exchange = an_exchange(1, "/two");
  exchange.response.body = store(*writer, "shared body");
  EXPECT_GT(exchange.response.body.extents[0].record_offset, at);
  add(*writer, exchange);
  ASSERT_TRUE(writer->close());
  auto const reader = open_archive(path_);
  EXPECT_EQ(load(*reader, exchanges_of(*reader)[1].response.body), "shared body");
}

TEST_F(Append, DoesNotReadWhatItHasCutOff) {
  // A hostile archive: its exchange refers to a body inside the index that is cut off.
  std::string const body(100'000, 'x');
  std::string const filler(1 << 16, ' ');  // nothing of the body is on a page that stays
  {
    RecordFile file(*create_private_file(path_), 0);
    ASSERT_TRUE(file.append_file_header());
    auto const session = *encode_session_start({.number = 1});
    ASSERT_TRUE(file.append(
        {.kind = RecordKind::kSessionStart, .pieces = {as_bytes(std::string_view(session))}}));
    auto exchange = an_exchange(1, "/one");
    exchange.session = 1;
    auto const digest = sha256(as_bytes(body));
    auto const encoded_with_offset = [&](std::uint64_t offset) {
      exchange.response.body = {.size_bytes = body.size(),
                                .digest = digest,
                                .extents = {{.record_offset = offset, .size_bytes = body.size()}}};
      return *encode_exchange(exchange);
    };
    // Offsets are stored in fixed width, so the length does not depend on them.
    auto const inside_index = file.size_bytes() + record_bytes(encoded_with_offset(0).size()) +
                              kRecordHeaderBytes + filler.size();
    auto const encoded = encoded_with_offset(inside_index);
    ASSERT_TRUE(file.append(
        {.kind = RecordKind::kExchange, .pieces = {as_bytes(std::string_view(encoded))}}));
    auto const crc = crc32c(as_bytes(body), crc32c(digest));
    auto const header = encode_record_header(
        RecordKind::kBody, static_cast<std::uint32_t>(digest.size() + body.size()), crc);
    ASSERT_TRUE(file.append({.kind = RecordKind::kIndex,
                             .pieces = {as_bytes(filler), header, digest, as_bytes(body)}}));
  }
  EXPECT_EQ(load(*open_archive(path_), exchanges_of(*open_archive(path_))[0].response.body), body);
  auto writer = append_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  auto exchange = an_exchange(1, "/two");
  exchange.response.body = store(*writer, body);
  add(*writer, exchange);
  ASSERT_TRUE(writer->close());
  auto const reader = open_archive(path_);
  EXPECT_EQ(load(*reader, exchanges_of(*reader)[1].response.body), body);
}

TEST_F(Append, RefusesWhatIsNoArchive) {
  write_file(path_, "#!/bin/sh\n");
  EXPECT_EQ(ArchiveWriter::append(path_, {}).error(), archive_errc::not_an_archive);
  EXPECT_EQ(read_file(path_), "#!/bin/sh\n");
  EXPECT_EQ(ArchiveWriter::append(folder_ / "missing", {}).error(),
            std::errc::no_such_file_or_directory);
}

}  // namespace
}  // namespace reprise
