#include <gmock/gmock.h>

#include <fstream>

#include "archive/match/match.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

std::size_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoul(line.substr(8)) * 1024;
  }
  return 0;
}

// With bodies of 10 KB and times: measure_archive_open.
TEST(Scale, AHundredThousandExchangesOpenFromTheMapAndAreAllFound) {
  ScratchFolder folder;
  constexpr std::uint64_t kExchanges = 100'000;
  auto const target_of = [](std::uint64_t i) { return "/" + std::to_string(i); };
  {
    auto writer = create_archive(folder / "a");
    ASSERT_TRUE(writer->begin_session({}));
    for (std::uint64_t i = 1; i <= kExchanges; ++i) {
      auto exchange = an_exchange(i, target_of(i));
      exchange.response.body = store(*writer, std::to_string(i));
      add(*writer, std::move(exchange));
    }
    ASSERT_TRUE(writer->close());
  }
  [[maybe_unused]] auto const before = anonymous_bytes();
  auto const reader = open_archive(folder / "a");
  ASSERT_TRUE(reader->report().indexed);
  ASSERT_EQ(reader->entries().size(), kExchanges);
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  EXPECT_LT(anonymous_bytes(), before + (4U << 20)) << "the index stays in the map";
#endif
  Matcher const matcher(*reader, 0);
  SequenceCursors cursors(kExchanges);
  for (std::uint64_t i = 1; i <= kExchanges; i += 97) {
    auto const expected = an_exchange(i, target_of(i));
    auto const decision =
        matcher.match(key_of(expected.request), {}, cursors, [](std::uint32_t) { return true; });
    ASSERT_EQ(decision.kind, MatchKind::kExact);
    auto const found = reader->exchange(decision.ordinal);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->request.target, target_of(i));
    EXPECT_EQ(load(*reader, found->response.body), std::to_string(i));
  }
}

}  // namespace
}  // namespace reprise
