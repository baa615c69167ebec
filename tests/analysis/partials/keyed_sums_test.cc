#include "analysis/partials/keyed_sums.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace reprise {
namespace {

TEST(KeyedSums, AddUpByKeyAndComeInTheOrderOfTheirBytes) {
  constexpr int kKeys = 5'000;
  KeyedSums sums(2, kKeys);
  std::map<std::string, std::int64_t> expected;
  for (int i = 0; i < 3 * kKeys; ++i) {
    // Keys of many sizes: also an empty one, and one with a zero and a byte beyond ASCII.
    auto const number = i % kKeys;
    auto key = number == 0 ? std::string() : std::string(number % 40, 'k') + std::to_string(number);
    if (number == 1) key = std::string("\0\xff", 2);
    auto const found = sums.find(key, sums.expect(key));
    ASSERT_EQ(found.size(), 2u);
    ++found[0];
    found[1] += i;
    expected[key] += i;
  }
  auto const lines = sums.sorted();
  ASSERT_EQ(lines.size(), expected.size());
  std::size_t at = 0;
  for (auto const& [key, sum] : expected) {
    ASSERT_EQ(lines[at].key, key);
    ASSERT_EQ(lines[at].sums[0], 3);
    ASSERT_EQ(lines[at].sums[1], sum);
    ++at;
  }
}

TEST(KeyedSums, TakeNoKeyBeyondTheirLimitUntilTheyAreCleared) {
  KeyedSums sums(1, 2);
  auto const find = [&sums](std::string_view key) { return sums.find(key, sums.expect(key)); };
  find("a")[0] = 1;
  find("b")[0] = 2;
  EXPECT_TRUE(find("c").empty());
  EXPECT_EQ(find("a")[0], 1);
  sums.clear();
  EXPECT_TRUE(sums.sorted().empty());
  EXPECT_EQ(find("c")[0], 0);
}

TEST(KeyedSums, TellKeysWithTheSameHashApart) {
  KeyedSums sums(1, 10);
  sums.find("a", 5)[0] = 1;
  sums.find("b", 5)[0] = 2;
  EXPECT_EQ(sums.find("a", 5)[0], 1);
  EXPECT_EQ(sums.find("b", 5)[0], 2);
}

}  // namespace
}  // namespace reprise
