#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "archive/record.h"
#include "archive/replace.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::IsEmpty;

/// A small archive with records of every kind, and what is in it.
class Damage : public testing::Test {
 protected:
  Damage() {
    auto writer = create_archive(path_);
    EXPECT_TRUE(writer->begin_session(a_session()));
    EXPECT_TRUE(writer->add_connection(a_connection(1)));
    answer_ = an_answer("example.org");
    EXPECT_TRUE(writer->add_answer(answer_));
    answer_.session = 1;
    keep(*writer, 1, a_full_exchange(*writer, 1));
    EXPECT_TRUE(writer->end_session());
    EXPECT_TRUE(writer->begin_session({}));
    auto exchange = an_exchange(1, "/chunked");
    exchange.response.body = store_in_chunks(*writer, {"first chunk", "second chunk"});
    keep(*writer, 2, exchange);
    exchange = an_exchange(2, "/shared");
    exchange.response.body = store(*writer, "<!doctype html><p>1");
    keep(*writer, 2, exchange);
    keep(*writer, 2, an_exchange(3, "/empty"));
    EXPECT_TRUE(writer->end_session());
    unclosed_ = read_file(path_);
    EXPECT_TRUE(writer->close());
    closed_ = read_file(path_);
    auto const reader = open_archive(path_);
    for (auto const& found : exchanges_of(*reader)) {
      bodies_[name_of(found)] = {load(*reader, found.request.body),
                                 load(*reader, found.response.body)};
    }
    walk_records(as_bytes(closed_), [this](const Record& record) { ends_.push_back(record.end); });
  }

  using Name = std::pair<std::uint32_t, std::uint64_t>;
  static Name name_of(const Exchange& exchange) { return {exchange.session, exchange.sequence}; }

  void keep(ArchiveWriter& writer, std::uint32_t session, Exchange exchange) {
    add(writer, exchange);
    exchange.session = session;
    written_.emplace(name_of(exchange), std::move(exchange));
  }

  struct Found {
    bool opened = false;
    bool complained = false;  ///< report() or verify() says that something is wrong
    std::size_t exchanges = 0;
    std::size_t bodies_lost = 0;
  };

  /// Opens `bytes` and checks that nothing comes out that did not go in.
  Found look_at(std::string_view bytes) {
    write_file(path_, bytes);
    auto const reader = ArchiveReader::open(path_, {});
    if (!reader) return {};
    Found found{.opened = true};
    auto const& report = (*reader)->report();
    found.complained = !report.indexed || report.tail_lost_bytes > 0 || report.damaged_records > 0;
    EXPECT_EQ(found.complained, !report.remarks.empty());
    for (auto const& answer : (*reader)->answers()) expect_same(answer, answer_);
    EXPECT_LE((*reader)->answers().size(), 1U);
    for (auto const ordinal : (*reader)->ordinals_in_order()) {
      auto const exchange = (*reader)->exchange(ordinal);
      if (!exchange) continue;
      auto const original = written_.find(name_of(*exchange));
      if (original == written_.end()) {
        ADD_FAILURE() << "an exchange that was never written";
        continue;
      }
      ++found.exchanges;
      expect_same(*exchange, original->second);
      auto const& [request, response] = bodies_[name_of(*exchange)];
      for (auto const& [body, text] : {std::pair(exchange->request.body, request),
                                       std::pair(exchange->response.body, response)}) {
        auto const loaded = (*reader)->read_body(body, 1000);
        if (loaded) {
          EXPECT_EQ(as_text(*loaded), text);
        } else {
          ++found.bodies_lost;
        }
      }
    }
    if (!problems_of(**reader).empty()) found.complained = true;
    return found;
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
  std::map<Name, Exchange> written_;
  DnsAnswer answer_;
  std::map<Name, std::pair<std::string, std::string>> bodies_;
  std::string unclosed_;
  std::string closed_;
  std::vector<std::uint64_t> ends_;
};

TEST_F(Damage, AtNoneOfItsBytesDoesATruncatedFileGiveOrLoseMoreThanItShould) {
  std::size_t most = 0;
  for (std::size_t size = 0; size < closed_.size(); ++size) {
    SCOPED_TRACE(size);
    auto const found = look_at(std::string_view(closed_).substr(0, size));
    ASSERT_EQ(found.opened, size >= kFileHeaderBytes);
    if (!found.opened) continue;
    EXPECT_TRUE(found.complained);
    EXPECT_EQ(found.bodies_lost, 0U) << "an exchange stands behind its bodies";
    EXPECT_GE(found.exchanges, most) << "a longer file holds no less";
    most = found.exchanges;
    auto const reader = open_archive(path_);
    auto last_end = kFileHeaderBytes;
    for (auto const end : ends_) {
      if (end <= size) last_end = end;
    }
    EXPECT_EQ(reader->report().tail_lost_bytes, size - last_end);
    EXPECT_FALSE(reader->report().tail_damaged);
    EXPECT_THAT(problems_of(*reader), IsEmpty()) << "what is left is whole";
  }
  EXPECT_EQ(most, written_.size());
}

TEST_F(Damage, OfAnyBitNeverGivesAWrongByteAndIsAlwaysTold) {
  // Eight bits of each byte take a minute: without the variable, one, another in each byte.
  std::size_t const step = std::getenv("REPRISE_ALL_BITS") != nullptr ? 1 : 8;
  for (std::size_t at = 0; at < closed_.size(); ++at) {
    for (std::size_t bit = at * 5 % step; bit < 8; bit += step) {
      SCOPED_TRACE(testing::Message() << "bit " << bit << " of byte " << at);
      auto flipped = closed_;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      auto const found = look_at(flipped);
      ASSERT_EQ(found.opened, at >= kFileHeaderBytes);
      if (found.opened) {
        EXPECT_TRUE(found.complained);
        EXPECT_GE(found.exchanges + 1, written_.size()) << "the index knows all the others";
        EXPECT_LE(found.bodies_lost, 2U) << "one body may be shared by two exchanges";
      }
      if (HasFailure()) return;
    }
  }
}

TEST_F(Damage, OfAnyByteOfAnUnclosedFileCostsThatRecordOrWhatIsBehindIt) {
  std::size_t without_loss = 0;
  for (std::size_t at = kFileHeaderBytes; at < unclosed_.size(); ++at) {
    SCOPED_TRACE(at);
    auto flipped = unclosed_;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
    auto const found = look_at(flipped);
    ASSERT_TRUE(found.opened);
    EXPECT_TRUE(found.complained);
    if (found.exchanges == written_.size() && found.bodies_lost == 0) ++without_loss;
    if (HasFailure()) return;
  }
  EXPECT_GT(without_loss, 0U);
}

TEST_F(Damage, OfOneRecordOfAClosedFileCostsOnlyThatRecord) {
  auto const reader = open_archive(path_);
  auto const damaged = reader->entries()[0];
  auto bytes = closed_;
  bytes[damaged.record_offset] ^= 1;  // its length: a scan could not go past it
  auto const found = look_at(bytes);
  EXPECT_EQ(found.exchanges, written_.size() - 1);
  EXPECT_EQ(open_archive(path_)->exchange(0).error(), archive_errc::corrupt);
}

TEST_F(Damage, OfOneRecordOfAnUnclosedFileIsLeftToRepair) {
  auto bytes = unclosed_;
  bytes[bytes.find("/chunked")] ^= 1;
  EXPECT_EQ(look_at(bytes).exchanges, written_.size() - 1);
  EXPECT_FALSE(open_archive(path_)->report().tail_damaged);
  auto const refused = Replacement::begin(path_, ".new");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), archive_errc::corrupt);
  EXPECT_TRUE(Replacement::begin(path_, ".new", Replacement::Damaged::kReplaced));
  EXPECT_EQ(read_file(path_), bytes);
}

TEST_F(Damage, OfAFactOfAClosedFileIsLeftToRepair) {
  auto bytes = closed_;
  bytes[ends_[0] + kRecordHeaderBytes] ^= 1;  // the connection, behind the start of session 1
  EXPECT_EQ(look_at(bytes).exchanges, written_.size());
  auto const refused = Replacement::begin(path_, ".new");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), archive_errc::corrupt);
}

TEST_F(Damage, ToTheIndexLosesNoExchange) {
  auto bytes = closed_;
  bytes[bytes.size() - record_bytes(kTrailerPayloadBytes) - 12] ^= 1;
  EXPECT_EQ(look_at(bytes).exchanges, written_.size());
  EXPECT_TRUE(Replacement::begin(path_, ".new"));
  auto const reader = open_archive(path_);
  EXPECT_FALSE(reader->report().indexed);
  EXPECT_EQ(reader->report().tail_lost_bytes, 0U);
}

TEST_F(Damage, ZerosBehindTheLastRecordAreATornTail) {
  auto const found = look_at(unclosed_ + std::string(5000, '\0'));
  EXPECT_EQ(found.exchanges, written_.size());
  auto const reader = open_archive(path_);
  EXPECT_EQ(reader->report().tail_lost_bytes, 5000U);
  EXPECT_FALSE(reader->report().tail_damaged);
}

TEST_F(Damage, RecordsBehindADamagedHeaderAreNotBelieved) {
  // What an origin sent may look like a record: after a damaged header nothing is read.
  auto const fake = unclosed_.substr(kFileHeaderBytes);
  auto const found = look_at(unclosed_ + std::string(8, '\x55') + std::string(8, '\0') + fake);
  EXPECT_EQ(found.exchanges, written_.size());
  EXPECT_TRUE(open_archive(path_)->report().tail_damaged);
}

TEST_F(Damage, ABodyThatEndsLikeAnotherClosedArchiveIsNoIndex) {
  // The file was cut off inside a body, which an origin chose: it ends with the trailer, and holds
  // the index and the exchanges, of another archive, at the very offsets that the trailer names.
  auto const bytes = [this] {
    auto writer = create_archive(folder_ / "other");
    EXPECT_TRUE(writer->begin_session({}));
    EXPECT_TRUE(writer->close());
    auto const index_at = open_archive(folder_ / "other")->records_end();
    auto own = read_file(folder_ / "other").substr(0, index_at);
    std::string header(kRecordHeaderBytes, '\0');
    auto const frame = encode_record_header(RecordKind::kChunk, 1 << 20, 0);
    std::copy_n(reinterpret_cast<const char*>(frame.data()), frame.size(), header.begin());
    auto body = own + header;
    auto const missing = unclosed_.size() - body.size();
    EXPECT_LT(body.size(), unclosed_.size());
    return body + std::string(missing, ' ') + closed_.substr(unclosed_.size());
  }();
  auto const found = look_at(bytes);
  ASSERT_TRUE(found.opened);
  EXPECT_EQ(found.exchanges, 0U);
  EXPECT_FALSE(open_archive(path_)->report().indexed);
}

}  // namespace
}  // namespace reprise
