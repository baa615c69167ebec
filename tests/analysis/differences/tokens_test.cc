#include "analysis/differences/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/differences/alignment.h"
#include "analysis/differences/token_diff.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<std::string> out;
  for (const Token& token : tokens) out.emplace_back(token.in(text));
  return out;
}

TEST(Tokens, OfAScript) {
  constexpr std::string_view kText = "let x='a b' /* c */ + y_1; // end\nf(`t\n`)";
  EXPECT_THAT(texts(kText, code_tokens(kText)),
              ElementsAre("let", "x", "=", "'a b'", "/* c */", "+", "y_1", ";", "// end", "f", "(",
                          "`t\n`", ")"));
}

TEST(Tokens, AnApostropheInARegularExpressionEndsNoScript) {
  constexpr std::string_view kText = "a = /'/;\nb()";
  EXPECT_THAT(texts(kText, code_tokens(kText)),
              ElementsAre("a", "=", "/", "'", "/", ";", "b", "(", ")"));
}

TEST(Tokens, OfADocument) {
  constexpr std::string_view kText =
      "<!doctype html><P class=a>two  words</P>\n<script>if (a<b) {}</script>end";
  EXPECT_THAT(texts(kText, document_tokens(kText)),
              ElementsAre("<!doctype html>", "<P class=a>", "two  words", "</P>", "<script>",
                          "if (a<b) {}", "</script>", "end"));
}

TEST(Tokens, OnlyScriptsAndStyleSheetsAreInline) {
  std::size_t inline_texts = 0;
  for (const Token& token : document_tokens("<title>t</title><style>s</style><script>c</script>")) {
    inline_texts += token.kind == Token::Kind::kInline ? 1 : 0;
  }
  EXPECT_EQ(inline_texts, 2u);
}

TEST(Tokens, UnfinishedTextsHaveTokensToo) {
  for (std::string_view const text :
       {"<", "</", "</p", "<p", "<script>x", "<!--", "'", "/*", "`", "\\", "a\\", "'\\"}) {
    for (auto const& tokens : {code_tokens(text), document_tokens(text)}) {
      for (const Token& token : tokens) {
        EXPECT_LT(token.begin, token.end);
        EXPECT_LE(token.end, text.size());
      }
    }
  }
}

std::string repeated(std::string_view what, std::size_t count) {
  std::string text;
  for (; count > 0; --count) text += what;
  return text;
}

// The texts below would take minutes if each token were searched for in all that follows.

TEST(Tokens, OfAScriptOfQuotesThatNothingClosesAreReadInLinearTime) {
  for (std::string_view const quote : {"\"", "'", "`"}) {
    auto const escaped = "\\" + std::string(quote);
    EXPECT_THAT(code_tokens(std::string(quote) + repeated(escaped, 1 << 19)), IsEmpty());
    auto const few = std::string(quote) + repeated(escaped, 20'000) + repeated("\\y", 1 << 19);
    EXPECT_THAT(code_tokens(few), IsEmpty());
  }
}

TEST(Tokens, ALongStringIsOneToken) {
  auto const text = "x='" + repeated("data", 1 << 19) + "';";
  EXPECT_EQ(code_tokens(text).size(), 4u);
}

TEST(Tokens, OfADocumentWithoutEndTagsAreReadInLinearTime) {
  auto const text = repeated("<b>x", 50'000) + repeated("< ", 1 << 19);
  EXPECT_EQ(document_tokens(text).size(), 100'000u);
  EXPECT_THAT(document_tokens(repeated("<b>x", kTokensMax)), IsEmpty());
}

TEST(Tokens, MoreThanTheMostAreNone) {
  EXPECT_EQ(document_tokens(repeated("<b>", kTokensMax)).size(), kTokensMax);
  EXPECT_THAT(document_tokens(repeated("<b>", kTokensMax + 1)), IsEmpty());
  EXPECT_THAT(document_tokens(repeated("</b>", kTokensMax + 1)), IsEmpty());
  EXPECT_EQ(code_tokens(repeated(";", kTokensMax)).size(), kTokensMax);
  EXPECT_THAT(code_tokens(repeated(";", kTokensMax + 1)), IsEmpty());
}

TEST(TokenDiff, IsTheShortest) {
  // Myers' own example: ABCABBA to CBABAC takes five edits.
  std::vector<std::uint64_t> const a{'A', 'B', 'C', 'A', 'B', 'B', 'A'};
  std::vector<std::uint64_t> const b{'C', 'B', 'A', 'B', 'A', 'C'};
  std::size_t edits = 0;
  for (const Hunk& hunk : token_diff(a, b)) {
    edits += hunk.a_end - hunk.a_begin + hunk.b_end - hunk.b_begin;
  }
  EXPECT_EQ(edits, 5u);
  EXPECT_THAT(token_diff(a, a), IsEmpty());
}

TEST(TokenDiff, OfTextsWithNothingInCommonIsOneHunk) {
  std::vector<std::uint64_t> a(3000, 1);
  std::vector<std::uint64_t> b(2000, 2);
  a.front() = b.front() = 7;
  EXPECT_THAT(token_diff(a, b),
              ElementsAre(Hunk{.a_begin = 1, .a_end = 3000, .b_begin = 1, .b_end = 2000}));
}

TEST(Shape, LeavesNamesAndVersions) {
  EXPECT_EQ(shape_of_target("/static/v2/main.3f2a9c01.js"), "/static/v2/main.*.js");
  EXPECT_EQ(shape_of_target("/a/20260105/h264/deadbeef/x"), "/a/*/h264/deadbeef/x");
  EXPECT_EQ(shape_of_target("/c?t=1&b=2&1700000000=x"), "/c?*&b&t");
}

}  // namespace
}  // namespace reprise
