// What a replay holds of an archive is bounded, and whoever uses it keeps it.

#include "proxy/replay/response/prepared_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

constexpr std::uint32_t kDocuments = 50;
constexpr std::size_t kDocumentBytes = 4 << 20;
constexpr Form kDocument{.destination = inject::Destination::kDocument};

/// A cache of documents that take three times as much as it may hold.
class PreparedCacheTest : public testing::Test {
 protected:
  PreparedCache::Entry prepare(std::uint32_t ordinal) {
    ++prepared_;
    return std::make_shared<const PreparedExchange>(
        archive_.reader(), ordinal, dates_, scheduler_, std::set<std::string>(),
        [](const StoredRequest&, const std::string&) {},
        [](const Form&, const inject::RewriteReport&) { return nullptr; });
  }

  /// With the script in it.
  PreparedCache::Entry get_document(std::uint32_t ordinal) {
    auto entry = cache_.get(ordinal);
    EXPECT_NE(entry->altered(&script_, kDocument), nullptr);
    cache_.settle(ordinal, *entry);
    return entry;
  }

  struct Documents : RecordedArchive {
    Documents() {
      auto const body = "<!doctype html><p>" + std::string(kDocumentBytes, 'x');
      for (std::uint32_t i = 0; i < kDocuments; ++i) {
        add(exchange("GET", "/" + std::to_string(i),
                     {{.name = "Content-Type", .value = "text/html"}}),
            body);
      }
    }
  };
  Documents archive_;
  DateShift const dates_{std::chrono::seconds(0)};
  Scheduler const scheduler_{archive_.reader(), {}};
  inject::InjectedScript const script_ =
      inject::InjectedScript::create({.document = {"ours()"}, .worker = {}}).value();
  std::atomic<int> prepared_ = 0;
  PreparedCache cache_{kDocuments, [this](std::uint32_t ordinal) { return prepare(ordinal); }};
};

TEST_F(PreparedCacheTest, StaysBelowItsLimit) {
  for (std::uint32_t i = 0; i < kDocuments; ++i) {
    get_document(i);
    ASSERT_LE(cache_.bytes(), PreparedCache::kBytesMax);
  }
  EXPECT_GT(cache_.bytes(), PreparedCache::kBytesMax - 2 * kDocumentBytes);
  EXPECT_FALSE(cache_.has_room());
}

TEST_F(PreparedCacheTest, LetsGoOfWhatWasNotUsedForLongest) {
  auto const* const used = get_document(0).get();
  for (std::uint32_t i = 1; i < kDocuments; ++i) {
    get_document(i);
    ASSERT_EQ(cache_.get(0).get(), used);
  }
  EXPECT_EQ(prepared_, int{kDocuments});
  get_document(1);
  EXPECT_EQ(prepared_, int{kDocuments} + 1);
}

TEST_F(PreparedCacheTest, WhatIsInUseStays) {
  auto const sending = get_document(0);
  for (std::uint32_t i = 1; i < kDocuments; ++i) get_document(i);
  auto const* const form = sending->altered(&script_, kDocument);
  EXPECT_GT(form->response->parts().body.bytes.size(), kDocumentBytes);
  // It is no longer counted, and another takes its place.
  auto const bytes = cache_.bytes();
  cache_.settle(0, *sending);
  EXPECT_EQ(cache_.bytes(), bytes);
  EXPECT_NE(cache_.get(0), sending);
}

TEST_F(PreparedCacheTest, IsForManyThreads) {
  std::vector<std::jthread> threads;
  for (std::uint32_t first : {0U, 1U, 25U, 49U}) {
    threads.emplace_back([this, first] {
      for (std::uint32_t i = 0; i < 2 * kDocuments; ++i) {
        auto const entry = get_document((first + i) % kDocuments);
        EXPECT_GT(entry->memory_bytes(), kDocumentBytes);
        get_document(0);
      }
    });
  }
  threads.clear();
  EXPECT_LE(cache_.bytes(), PreparedCache::kBytesMax);
}

}  // namespace
}  // namespace reprise
