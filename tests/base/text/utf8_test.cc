#include "base/text/utf8.h"

#include <gmock/gmock.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/test_seed.h"

namespace reprise {
namespace {

/// What is UTF-8, said another way: by the table of RFC 3629 section 4.
bool is_in_table(const std::vector<unsigned>& bytes) {
  std::size_t i = 0;
  auto const next_in = [&](unsigned low, unsigned high) {
    return i < bytes.size() && bytes[i] >= low && bytes[i++] <= high;
  };
  while (i < bytes.size()) {
    auto const first = bytes[i++];
    bool holds = first < 0x80;
    if (first >= 0xc2 && first <= 0xdf) holds = next_in(0x80, 0xbf);
    if (first == 0xe0) holds = next_in(0xa0, 0xbf) && next_in(0x80, 0xbf);
    if (first == 0xed) holds = next_in(0x80, 0x9f) && next_in(0x80, 0xbf);
    if (first >= 0xe1 && first <= 0xef && first != 0xed) {
      holds = next_in(0x80, 0xbf) && next_in(0x80, 0xbf);
    }
    if (first >= 0xf0 && first <= 0xf4) {
      holds = next_in(first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) &&
              next_in(0x80, 0xbf) && next_in(0x80, 0xbf);
    }
    if (!holds) return false;
  }
  return true;
}

TEST(Utf8Check, SaysWhatTheTableSays) {
  TestSeed const seed;
  std::mt19937 random(seed.value());
  constexpr std::array<unsigned, 20> kBytes{0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                            0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
                                            0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff};
  for (int run = 0; run < 200'000; ++run) {
    std::vector<unsigned> numbers(1 + random() % 5);
    for (auto& number : numbers) number = kBytes[random() % kBytes.size()];
    Utf8Check check;
    for (auto const number : numbers) check.append(std::string(1, static_cast<char>(number)));
    ASSERT_EQ(check.finish(), is_in_table(numbers)) << testing::PrintToString(numbers);
  }
}

TEST(Utf8Start, EndsBetweenCharacters) {
  EXPECT_EQ(utf8_start("a\u20acb", 9), "a\u20acb");
  EXPECT_EQ(utf8_start("a\u20acb", 4), "a\u20ac");
  EXPECT_EQ(utf8_start("a\u20acb", 3), "a");
  EXPECT_EQ(utf8_start("\u20ac", 2), "");
}

}  // namespace
}  // namespace reprise
