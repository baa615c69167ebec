#include <gmock/gmock.h>

#include <deque>

#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kSmallMax = ArchiveWriter::kSmallBodyBytesMax;
constexpr auto kHeldMax = ArchiveWriter::kHeldBodyBytesMax;
constexpr auto kChunk = ArchiveWriter::kChunkBytes;

class Bodies : public testing::Test {
 protected:
  Bodies() : writer_(create_archive(path_)) { EXPECT_TRUE(writer_->begin_session({})); }

  /// Closes the archive with one exchange for each body, and checks that each body comes back.
  void expect_stored(const std::vector<std::pair<StoredBody, std::string>>& bodies) {
    std::uint64_t sequence = 0;
    for (auto const& [stored, text] : bodies) {
      ++sequence;
      auto exchange = an_exchange(sequence, "/" + std::to_string(sequence));
      exchange.response.body = stored;
      add(*writer_, std::move(exchange));
    }
    ASSERT_TRUE(writer_->close());
    auto const reader = open_archive(path_);
    auto const found = exchanges_of(*reader);
    ASSERT_EQ(found.size(), bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      EXPECT_TRUE(load(*reader, found[i].response.body) == bodies[i].second) << i;
      EXPECT_TRUE(reader->check_body(found[i].response.body)) << i;
    }
    EXPECT_THAT(problems_of(*reader), IsEmpty());
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
  std::unique_ptr<ArchiveWriter> writer_;
};

TEST_F(Bodies, OfEverySizeAroundTheLimitsComeBack) {
  std::vector<std::pair<StoredBody, std::string>> bodies;
  for (auto const size :
       {std::size_t{1}, std::size_t{7}, std::size_t{8}, kChunk - 1, kChunk, kChunk + 1,
        kSmallMax - 1, kSmallMax, kSmallMax + 1, kSmallMax + kChunk, 3 * kSmallMax + 5}) {
    auto const text = noise(size, size);
    bodies.emplace_back(store(*writer_, text), text);
    EXPECT_EQ(bodies.back().first.extents.size() == 1, size <= kSmallMax) << size;
  }
  expect_stored(bodies);
}

TEST_F(Bodies, EmptyOnesTakeNoRecordAndHaveNoDigest) {
  auto const before = writer_->size_bytes();
  auto const stored = store(*writer_, "");
  EXPECT_EQ(stored, StoredBody{});
  EXPECT_EQ(writer_->size_bytes(), before);
  expect_stored({{stored, ""}});
}

TEST_F(Bodies, GivenInManyPiecesAreTheSameAsInOne) {
  auto const text = noise(kSmallMax + 12'345, 3);
  BodyWriter pieces(*writer_);
  for (std::size_t at = 0; at < text.size(); at += 1'000) {
    ASSERT_TRUE(
        pieces.append(as_bytes(text).subspan(at, std::min<std::size_t>(1'000, text.size() - at))));
  }
  EXPECT_EQ(pieces.size_bytes(), text.size());
  auto const stored = pieces.finish();
  ASSERT_TRUE(stored);
  for (std::size_t i = 0; i + 1 < stored->extents.size(); ++i) {
    EXPECT_EQ(stored->extents[i].size_bytes, kChunk);
  }
  auto const again = store(*writer_, text);
  EXPECT_EQ(*stored, again) << "a large body is stored once";
  expect_stored({{*stored, text}, {again, text}});
}

TEST_F(Bodies, ThatAreEqualAreStoredOnce) {
  auto const first = store(*writer_, "body");
  auto const size = writer_->size_bytes();
  EXPECT_EQ(store(*writer_, "body"), first);
  EXPECT_EQ(writer_->size_bytes(), size);
  auto const other = store(*writer_, "bodx");
  EXPECT_NE(other, first);
  expect_stored({{first, "body"}, {first, "body"}, {other, "bodx"}});
}

TEST_F(Bodies, MayArriveInterleaved) {
  auto const large = noise(5 * kSmallMax, 1);
  auto const other = noise(4 * kSmallMax + 99, 2);
  BodyWriter a(*writer_);
  BodyWriter b(*writer_);
  constexpr std::size_t kPiece = 100'000;
  std::vector<std::pair<StoredBody, std::string>> bodies;
  for (std::size_t at = 0; at < large.size(); at += kPiece) {
    ASSERT_TRUE(a.append(as_bytes(std::string_view(large).substr(at, kPiece))));
    if (at < other.size()) {
      ASSERT_TRUE(b.append(as_bytes(std::string_view(other).substr(at, kPiece))));
    }
    auto const small = noise(100, at);
    bodies.emplace_back(store(*writer_, small), small);
  }
  bodies.emplace_back(*a.finish(), large);
  bodies.emplace_back(*b.finish(), other);
  expect_stored(bodies);
}

TEST_F(Bodies, TogetherHoldNoMoreThanTheLimitInMemory) {
  auto const piece = noise(kSmallMax, 9);
  auto const before = writer_->size_bytes();
  std::deque<BodyWriter> held;
  for (std::size_t i = 0; i < kHeldMax / kSmallMax; ++i) {
    ASSERT_TRUE(held.emplace_back(*writer_).append(as_bytes(piece)));
  }
  EXPECT_EQ(writer_->size_bytes(), before) << "nothing is written yet";
  BodyWriter one_too_many(*writer_);
  ASSERT_TRUE(one_too_many.append(as_bytes("abc")));
  ASSERT_TRUE(one_too_many.append(as_bytes("defg")));
  auto const stored = one_too_many.finish();
  ASSERT_TRUE(stored);
  EXPECT_THAT(stored->extents, SizeIs(2)) << "each piece went out at once";
  held.clear();
  auto const small = store(*writer_, "held again");
  EXPECT_THAT(small.extents, SizeIs(1));
  expect_stored({{*stored, "abcdefg"}, {small, "held again"}});
}

TEST_F(Bodies, DroppedUnfinishedLeaveTheArchiveWhole) {
  auto const large = noise(2 * kSmallMax, 4);
  {
    BodyWriter dropped(*writer_);
    ASSERT_TRUE(dropped.append(as_bytes(large)));
  }
  auto const stored = store(*writer_, "kept");
  expect_stored({{stored, "kept"}});
}

TEST_F(Bodies, CannotBeReadThroughAReferenceThatIsNotTheirs) {
  auto const a = store(*writer_, "body a");
  auto const b = store(*writer_, "body b");
  auto const large = noise(2 * kSmallMax, 1);
  auto const chunked = store(*writer_, large);
  ASSERT_TRUE(writer_->close());
  auto const reader = open_archive(path_);
  auto const expect_corrupt = [&reader](const StoredBody& body) {
    auto const found = reader->read_body(body, UINT64_MAX);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error(), archive_errc::corrupt);
    EXPECT_FALSE(reader->check_body(body));
  };
  auto forged = a;
  forged.extents = b.extents;
  expect_corrupt(forged);  // the digest before the bytes is another
  forged = a;
  forged.extents = {chunked.extents[0]};
  forged.extents[0].size_bytes = a.size_bytes;
  expect_corrupt(forged);
  forged = a;
  forged.size_bytes = 5;
  expect_corrupt(forged);
  forged = chunked;
  std::swap(forged.extents[0], forged.extents[1]);
  expect_corrupt(forged);  // chunks out of order
  forged = chunked;
  forged.extents.erase(forged.extents.begin());
  expect_corrupt(forged);
  for (std::uint64_t const offset :
       {std::uint64_t{0}, std::uint64_t{16}, std::uint64_t{17}, reader->size_bytes() - 8,
        reader->size_bytes(), UINT64_MAX - 7, UINT64_MAX}) {
    forged = a;
    forged.extents[0].record_offset = offset;
    expect_corrupt(forged);
  }
  EXPECT_EQ(reader->read_body(a, 5).error(), archive_errc::too_large);
  EXPECT_EQ(load(*reader, a), "body a");
}

}  // namespace
}  // namespace reprise
