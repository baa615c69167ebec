#include "inject/characters.h"

#include <gmock/gmock.h>

#include "tests/inject/find_place.h"

namespace reprise::inject {
namespace {

constexpr std::string_view kHead = "<html><!-- \x1B$B<head>%5x\x1B(B --><head>";

TEST(Iso2022Jp, BytesInsideDoubleByteTextAreNoMarkup) {
  // In the comment, "<head>" and "--" are halves of Japanese characters.
  std::string const document = std::string(kHead) + "\x1B$B$3$s\x1B(B";
  for (std::size_t const piece : {1U << 20, 1U}) {
    auto const place = find_place(Markup::kHtml, "iso-2022-jp", document, piece);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->offset_bytes, kHead.size());
    EXPECT_FALSE(place->roman);
  }
}

TEST(Iso2022Jp, TextIsMetBeforeTheEscapeThatOpensIt) {
  auto const place = find_place(Markup::kHtml, "iso-2022-jp", "<html>\n\x1B$B$3$s\x1B(B");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->offset_bytes, 7U);
}

TEST(Iso2022Jp, InRomanTheScriptIsWrittenInAscii) {
  auto const place = find_place(Markup::kHtml, "csiso2022jp", "\x1B(J<html><head>\\");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->offset_bytes, 15U);
  EXPECT_TRUE(place->roman);
  EXPECT_EQ(in_form("a\\b", *place), "\x1B(Ba\\b\x1B(J");
}

TEST(Iso2022Jp, ErrorsAreCharactersAndAnEscapeIsNeverSwallowed) {
  for (auto const* const document : {"<html>\x1B", "<html>\x1B(", "<html>\x1BXX<head>",
                                     "<html>\x8F<head>", "<html>\x1B$B$\x1B(B<head>"}) {
    auto const place = find_place(Markup::kHtml, "iso-2022-jp", document);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->offset_bytes, 6U) << document;
  }
}

TEST(Characters, TrailBytesOfOtherEncodingsAreNeverTakenForMarkup) {
  // Shift_JIS 0x83 0x5C, Big5 0xA5 0x5C, GBK 0x81 0x40 and GB18030's digits lie in ASCII's range.
  for (auto const* const charset : {"shift_jis", "big5", "gbk", "gb18030", "euc-kr"}) {
    auto const place =
        find_place(Markup::kHtml, charset,
                   "<html title='\x83\x5C\xA5\x5C\x81\x40\x81\x30\x81\x30'><head><script>");
    ASSERT_TRUE(place);
    EXPECT_EQ(place->offset_bytes, 31U) << charset;
  }
}

}  // namespace
}  // namespace reprise::inject
