#include "archive/index.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "archive/record.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

constexpr std::uint64_t kFileBytes = 1 << 20;

std::vector<IndexEntry> random_entries(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<IndexEntry> entries(count);
  for (std::size_t i = 0; i < count; ++i) {
    entries[i] = {.key_hash = random(),
                  .path_hash = random(),
                  .record_offset = 16 + 8 * (i % 1000),
                  .sequence = i + 1,
                  .session = 1,
                  .outcome = Outcome::kComplete,
                  .reserved = {}};
    // Some repeats of a key, and of a path.
    if (i % 7 == 3) entries[i].key_hash = entries[i - 1].key_hash;
    if (i % 5 == 3) entries[i].path_hash = entries[i - 1].path_hash;
  }
  return entries;
}

TEST(Index, HasNoFactTwice) {
  std::vector<std::uint64_t> const good{16, 24, 40};
  EXPECT_TRUE(IndexView::parse(build_index({}, good), kFileBytes));
  std::vector<std::uint64_t> const twice{16, 24, 24};
  EXPECT_FALSE(IndexView::parse(build_index({}, twice), kFileBytes));
}

TEST(Index, FindsEveryKeyAndPathAndNoOther) {
  for (std::size_t const count : {0, 1, 2, 3, 100, 5000}) {
    auto const entries = random_entries(count, count);
    auto const payload = build_index(entries, {});
    auto const index = IndexView::parse(payload, kFileBytes);
    ASSERT_TRUE(index);
    ASSERT_EQ(index->entries().size(), count);
    for (auto const& entry : entries) {
      auto const found = index->find_key(entry.key_hash);
      EXPECT_EQ(std::ranges::count(entries, entry.key_hash, &IndexEntry::key_hash),
                std::ssize(found));
      std::ptrdiff_t on_path = 0;
      index->visit_path(entry.path_hash, [&](std::uint32_t ordinal) {
        EXPECT_EQ(index->entries()[ordinal].path_hash, entry.path_hash);
        ++on_path;
        return true;
      });
      EXPECT_EQ(std::ranges::count(entries, entry.path_hash, &IndexEntry::path_hash), on_path);
      EXPECT_TRUE(index->find_key(entry.key_hash + 1).empty());
    }
    EXPECT_TRUE(index->find_key(0).empty());
    EXPECT_TRUE(index->find_key(UINT64_MAX).empty());
  }
}

/// How many entries a look-up has to tell apart, over all keys.
std::pair<double, std::size_t> compared_entries(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<IndexEntry> entries = random_entries(count, 1);
  for (auto& entry : entries) entry.key_hash = random();
  auto const payload = build_index(entries, {});
  auto const index = IndexView::parse(payload, kFileBytes);
  std::size_t sum = 0;
  std::size_t most = 0;
  for (auto const& entry : entries) {
    auto const compared = index->bucket_of(entry.key_hash).size();
    sum += compared;
    most = std::max(most, compared);
  }
  return {static_cast<double>(sum) / static_cast<double>(count), most};
}

TEST(Index, ComparesAsManyEntriesAmongAHundredThousandAsAmongAThousand) {
  auto const [mean_of_few, most_of_few] = compared_entries(1'000);
  auto const [mean_of_many, most_of_many] = compared_entries(100'000);
  RecordProperty("compared_of_1000", std::to_string(mean_of_few));
  RecordProperty("compared_of_100000", std::to_string(mean_of_many));
  EXPECT_LT(mean_of_few, 2.5);
  EXPECT_LT(mean_of_many, 2.5);
  EXPECT_LE(most_of_few, 16U);
  EXPECT_LE(most_of_many, 16U);
}

TEST(Index, WithAnyByteOrLengthChangedNeverLeadsOutside) {
  std::vector<std::uint64_t> const facts = {16, 24, 32};
  auto const payload = build_index(random_entries(20, 3), facts);
  auto const use = [](const std::vector<std::byte>& changed) {
    auto const index = IndexView::parse(changed, kFileBytes);
    if (!index) return;
    for (auto const& entry : index->entries()) {
      EXPECT_LT(entry.record_offset, kFileBytes);
      EXPECT_LE(index->find_key(entry.key_hash).size(), index->entries().size());
      index->visit_path(entry.path_hash, [&](std::uint32_t ordinal) {
        EXPECT_LT(ordinal, index->entries().size());
        return true;
      });
    }
    for (auto const offset : index->fact_offsets()) EXPECT_LT(offset, kFileBytes);
  };
  for (std::size_t at = 0; at < payload.size(); ++at) {
    for (int const mask : {0x01, 0x80, 0xff}) {
      auto changed = payload;
      changed[at] ^= static_cast<std::byte>(mask);
      use(changed);
    }
    use({payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(at)});
  }
  EXPECT_FALSE(IndexView::parse({}, kFileBytes));
}

}  // namespace
}  // namespace reprise
