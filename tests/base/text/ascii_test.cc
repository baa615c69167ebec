#include "base/text/ascii.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise {
namespace {

TEST(Ascii, LettersAndDigitsAreThoseOfAscii) {
  std::string letters, digits, changed;
  for (int byte = 0; byte < 256; ++byte) {
    auto const c = static_cast<char>(byte);
    if (is_letter(c)) letters += c;
    if (is_digit(c)) digits += c;
    if (to_lower(c) != c) changed += to_lower(c);
  }
  EXPECT_EQ(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(digits, "0123456789");
  EXPECT_EQ(changed, "abcdefghijklmnopqrstuvwxyz");
}

TEST(Ascii, ATextContainsAnotherInAnyCase) {
  EXPECT_TRUE(contains_ignoring_case("a</ScRiPt", "</script"));
  EXPECT_TRUE(contains_ignoring_case("Text/HTML", "text/html"));
  EXPECT_TRUE(contains_ignoring_case("xTEXt", "Text"));
  EXPECT_TRUE(contains_ignoring_case("aab", "AB"));
  EXPECT_TRUE(contains_ignoring_case("a", ""));
  EXPECT_TRUE(contains_ignoring_case("", ""));
  EXPECT_FALSE(contains_ignoring_case("", "a"));
  EXPECT_FALSE(contains_ignoring_case("text/htm", "text/html"));
}

TEST(Ascii, OnlyLettersHaveTwoCases) {
  EXPECT_FALSE(contains_ignoring_case("[", "{"));
  EXPECT_FALSE(contains_ignoring_case("\x1D", "="));
  EXPECT_FALSE(contains_ignoring_case("\xC4", "\xE4"));
}

}  // namespace
}  // namespace reprise
