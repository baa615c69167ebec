#include "archive/repair.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "archive/match/match.h"
#include "archive/record.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Repair : public testing::Test {
 protected:
  /// Two sessions, a body of each kind; returns the bytes before close().
  std::string record() {
    auto writer = create_archive(path_);
    EXPECT_TRUE(writer->begin_session(a_session()));
    EXPECT_TRUE(writer->add_connection(a_connection(1)));
    add(*writer, a_full_exchange(*writer, 1));
    EXPECT_TRUE(writer->end_session());
    EXPECT_TRUE(writer->begin_session({}));
    auto exchange = an_exchange(1, "/large");
    exchange.response.body = store(*writer, large_);
    add(*writer, exchange);
    EXPECT_TRUE(writer->close());
    auto const closed = read_file(path_);
    return closed.substr(0, open_archive(path_)->records_end());
  }
  Result<RepairReport> repair(const std::string& bytes) {
    write_file(path_, bytes);
    return repair_archive(path_, false);
  }
  std::vector<std::string> targets() {
    std::vector<std::string> targets;
    for (auto const& exchange : exchanges_of(*open_archive(path_))) {
      targets.push_back(exchange.request.target);
    }
    return targets;
  }
  /// The places of the records of that kind in `bytes`.
  static std::vector<std::uint64_t> places_of(RecordKind kind, const std::string& bytes) {
    std::vector<std::uint64_t> places;
    walk_records(as_bytes(bytes), [&places, kind](const Record& record) {
      if (record.kind == kind) places.push_back(record.offset);
    });
    return places;
  }
  void expect_whole() {
    auto const reader = open_archive(path_);
    EXPECT_TRUE(reader->report().indexed);
    EXPECT_THAT(reader->report().remarks, IsEmpty());
    EXPECT_THAT(problems_of(*reader), IsEmpty());
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
  std::filesystem::path backup_ = folder_ / "a.reprise.bak";
  std::string large_ = noise(2 << 20, 1);
};

TEST_F(Repair, WaitsForNobodyWhoReads) {
  record();
  auto const reader = open_archive(path_);
  EXPECT_EQ(repair_archive(path_, true).error(), archive_errc::locked);
}

TEST_F(Repair, ClosesAnUnclosedFileAndKeepsTheOriginal) {
  auto const unclosed = record();
  auto const closed = read_file(path_);
  write_file(path_, unclosed + "torn");
  auto const report = repair_archive(path_, true);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->exchanges_kept, 2U);
  EXPECT_EQ(report->exchanges_lost, 0U);
  EXPECT_EQ(report->backup_path, backup_);
  EXPECT_EQ(read_file(backup_), unclosed + "torn");
  EXPECT_TRUE(read_file(path_) == closed) << "the same records make the same file";
  expect_whole();
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(Repair, KeepsTheMode) {
  record();
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  ASSERT_TRUE(repair_archive(path_, true));
  for (auto const& path : {path_, backup_}) {
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640U) << path;
  }
}

TEST_F(Repair, LeavesOutAnExchangeWhoseBodyIsDamaged) {
  record();
  auto bytes = read_file(path_);
  bytes[bytes.find(large_.substr(0, 100)) + 5] ^= 1;
  write_file(path_, bytes);
  EXPECT_THAT(problems_of(*open_archive(path_)), Not(IsEmpty()));
  auto const report = repair_archive(path_, false);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->exchanges_kept, 1U);
  EXPECT_EQ(report->exchanges_lost, 1U);
  EXPECT_THAT(report->remarks, ElementsAre(testing::HasSubstr("https://example.org/large")));
  EXPECT_FALSE(std::filesystem::exists(backup_));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.reprise.repairing"));
  expect_whole();
  EXPECT_THAT(targets(), ElementsAre("/form?a=1&b=%20&a=2"));
}

TEST_F(Repair, CountsAnExchangeThatAScanDoesNotFind) {
  auto bytes = record();  // without an index
  bytes[bytes.find("/large")] ^= 1;
  auto const report = repair(bytes);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->exchanges_kept, 1U);
  EXPECT_EQ(report->exchanges_lost, 1U);
  EXPECT_FALSE(report->more_may_be_lost);
  EXPECT_THAT(report->remarks, Contains("1 exchange whose record is damaged was dropped"));
  expect_whole();
  EXPECT_THAT(targets(), ElementsAre("/form?a=1&b=%20&a=2"));
}

TEST_F(Repair, DoesNotCountADamagedFactAsAnExchange) {
  auto bytes = record();
  bytes[places_of(RecordKind::kConnection, bytes).at(0) + kRecordHeaderBytes] ^= 1;
  auto const report = repair(bytes);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->exchanges_kept, 2U);
  EXPECT_EQ(report->exchanges_lost, 0U);
}

TEST_F(Repair, SaysThatMoreMayBeLostBehindADamagedHeader) {
  auto bytes = record();
  bytes[places_of(RecordKind::kExchange, bytes).at(0)] ^= 1;
  auto const report = repair(bytes);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->exchanges_kept, 0U);
  EXPECT_EQ(report->exchanges_lost, 0U);
  EXPECT_TRUE(report->more_may_be_lost);
  EXPECT_THAT(report->remarks,
              Contains(HasSubstr("the number of exchanges lost there is unknown")));
  expect_whole();
}

TEST_F(Repair, KeepsTheEndOfASessionWhoseStartIsLost) {
  auto writer = create_archive(path_);
  for (int session = 1; session <= 2; ++session) {
    ASSERT_TRUE(writer->begin_session({}));
    add(*writer, an_exchange(1, "/" + std::to_string(session)));
    ASSERT_TRUE(writer->end_session());
  }
  ASSERT_TRUE(writer->close());
  auto bytes = read_file(path_);
  bytes[places_of(RecordKind::kSessionStart, bytes).at(1) + kRecordHeaderBytes] ^= 0x40;
  write_file(path_, bytes);
  {
    auto const reader = open_archive(path_);
    EXPECT_THAT(reader->ended_without_start(), ElementsAre(2U));
    EXPECT_EQ(session_to_replay(*reader), 2U);
  }
  auto const report = repair_archive(path_, false);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->remarks, Contains("session 2 lost its start time, seed and pages"));
  expect_whole();
  auto const reader = open_archive(path_);
  ASSERT_EQ(reader->sessions().size(), 2U);
  EXPECT_TRUE(reader->sessions()[1].complete);
  EXPECT_THAT(reader->ended_without_start(), IsEmpty());
  EXPECT_EQ(session_to_replay(*reader), 2U) << "the last complete one";
}

TEST_F(Repair, OfAWholeArchiveReportsNoLoss) {
  record();
  auto const report = repair_archive(path_, false);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->exchanges_lost, 0U);
  EXPECT_FALSE(report->more_may_be_lost);
  EXPECT_THAT(report->remarks, IsEmpty());
}

TEST_F(Repair, KeepsTheNumberOfASessionWhoseStartIsLost) {
  auto writer = create_archive(path_);
  for (int session = 1; session <= 3; ++session) {
    ASSERT_TRUE(writer->begin_session({}));
    add(*writer, an_exchange(1, "/" + std::to_string(session)));
    ASSERT_TRUE(writer->end_session());
  }
  writer.reset();
  auto bytes = read_file(path_);
  auto const starts = places_of(RecordKind::kSessionStart, bytes);
  ASSERT_EQ(starts.size(), 3U);
  bytes[starts.at(1) + kRecordHeaderBytes] ^= 0x40;
  write_file(path_, bytes);
  ASSERT_TRUE(repair_archive(path_, false));
  expect_whole();
  auto const exchanges = exchanges_of(*open_archive(path_));
  ASSERT_EQ(exchanges.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(exchanges[i].session, i + 1);
    EXPECT_EQ(exchanges[i].request.target, "/" + std::to_string(i + 1));
  }
}

TEST_F(Repair, LeavesOutChunksThatNobodyRefersTo) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  auto const lost = noise(3 << 20, 7);
  {
    BodyWriter dropped(*writer);
    ASSERT_TRUE(dropped.append(as_bytes(lost)));
  }
  add(*writer, an_exchange(1, "/"));
  ASSERT_TRUE(writer->close());
  auto const report = repair_archive(path_, false);
  ASSERT_TRUE(report);
  EXPECT_GT(report->bytes_before, 2U << 20);
  EXPECT_LT(report->bytes_after, 1000U);
  EXPECT_EQ(report->bytes_after, std::filesystem::file_size(path_));
  expect_whole();
}

TEST_F(Repair, StoresABodyThatIsThereTwiceOnce) {
  auto writer = create_archive(path_);
  ASSERT_TRUE(writer->begin_session({}));
  auto const large = noise(3 << 20, 7);
  for (std::uint64_t number : {1, 2}) {
    auto exchange = an_exchange(number, "/" + std::to_string(number));
    exchange.response.body = store(*writer, large);
    add(*writer, exchange);
  }
  ASSERT_TRUE(writer->close());
  auto const report = repair_archive(path_, false);
  ASSERT_TRUE(report);
  EXPECT_LT(report->bytes_after, 4U << 20);
  expect_whole();
}

TEST_F(Repair, NeverOverwritesABackup) {
  record();
  write_file(backup_, "precious");
  auto const bytes = read_file(path_);
  EXPECT_EQ(repair_archive(path_, true).error(), archive_errc::already_exists);
  EXPECT_EQ(read_file(backup_), "precious");
  EXPECT_TRUE(read_file(path_) == bytes);
}

TEST_F(Repair, OfASymbolicLinkKeepsTheOriginalBesideItsTarget) {
  record();
  auto const bytes = read_file(path_);
  auto const link = folder_ / "link.reprise";
  std::filesystem::create_symlink(path_, link);
  auto const report = repair_archive(link, true);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::equivalent(report->backup_path, backup_));
  EXPECT_FALSE(std::filesystem::is_symlink(backup_));
  EXPECT_TRUE(read_file(backup_) == bytes);
  expect_whole();
}

TEST_F(Repair, ReplacesWhatAKilledRepairLeft) {
  record();
  write_file(folder_ / "a.reprise.repairing", "half");
  ASSERT_TRUE(repair_archive(path_, false));
  expect_whole();
}

}  // namespace
}  // namespace reprise
