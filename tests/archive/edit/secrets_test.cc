#include "archive/edit/secrets.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "archive/error.h"
#include "tests/archive/edit/secrets_key.h"

namespace reprise {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

TEST(Secrets, AreHiddenAlikeInKindAndLength) {
  Secrets secrets(secrets_key(1));
  EXPECT_THAT(secrets.hide("GA1.2.123456789.abcXYZ", "c"),
              AllOf(MatchesRegex("[A-Z][A-Z][0-9]\\.[0-9]\\.[0-9]+\\.[a-z][a-z][a-z][A-Z]+"),
                    Not("GA1.2.123456789.abcXYZ"), testing::SizeIs(22)));
  EXPECT_EQ(secrets.hide("a-b", "c").size(), 3U);
  EXPECT_EQ(secrets.hide("", "c"), "");
}

TEST(Secrets, HaveTheSameStandInInEveryForm) {
  Secrets secrets(secrets_key(1));
  auto const plain = secrets.hide("user/name=Passw0rd12", "c");
  auto encoded = secrets.hide("user%2Fname%3dPassw0rd12", "c");
  EXPECT_THAT(encoded, AllOf(HasSubstr("%2F"), HasSubstr("%3d")));
  encoded.replace(encoded.find("%2F"), 3, "/");
  encoded.replace(encoded.find("%3d"), 3, "=");
  EXPECT_EQ(encoded, plain);
}

TEST(Secrets, DependOnTheKey) {
  Secrets one(secrets_key(1));
  Secrets other(secrets_key(2));
  EXPECT_NE(one.hide("0123456789abcdef", "c"), other.hide("0123456789abcdef", "c"));
  Secrets same(secrets_key(1));
  EXPECT_EQ(one.hide("0123456789abcdef", "c"), same.hide("0123456789abcdef", "c"));
}

TEST(Secrets, AreFoundWhereverTheyOccurTheLongestFirst) {
  Secrets secrets(secrets_key(1));
  ASSERT_TRUE(secrets.add("sess%3D12345", "c", Searched::kYes));
  ASSERT_TRUE(secrets.add("sess%3D1234567", "c", Searched::kYes));
  ASSERT_TRUE(secrets.add("short1", "c", Searched::kYes));
  ASSERT_TRUE(secrets.add("a word that is not searched", "c", Searched::kNo));
  std::string text = "x=sess=12345&y=sess%3D1234567!short1 a word that is not searched";
  EXPECT_TRUE(secrets.hide_all(text));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("12345")), HasSubstr("!short1 a word that is not searched"),
                          HasSubstr("%3D"), testing::SizeIs(64)));
  EXPECT_EQ(secrets.counts().at("c").elsewhere, 2U);
  EXPECT_EQ(secrets.counts().at("c").values, 4U);
  std::string nothing = "nothing is here";
  EXPECT_FALSE(secrets.hide_all(nothing));
  EXPECT_EQ(nothing, "nothing is here");
}

using Escapes = std::initializer_list<std::pair<char, const char*>>;

std::string with_escapes(std::string_view text, Escapes escapes) {
  std::string out;
  for (char const c : text) {
    auto const* const found = std::ranges::find(escapes, c, &std::pair<char, const char*>::first);
    out += found == escapes.end() ? std::string(1, c) : found->second;
  }
  return out;
}

TEST(Secrets, AreFoundInTheSpellingsOfOtherFormats) {
  Secrets secrets(secrets_key(1));
  constexpr std::string_view kToken = "abc/def+123==";
  constexpr std::string_view kPhrase = "pass & it's \"so\" (4)~";
  for (auto const secret : {kToken, kPhrase}) ASSERT_TRUE(secrets.add(secret, "c", Searched::kYes));
  auto const expect_hidden = [&](std::string_view secret, Escapes escapes) {
    auto text = "x" + with_escapes(secret, escapes) + "y";
    SCOPED_TRACE(text);
    EXPECT_TRUE(secrets.hide_all(text));
    EXPECT_EQ(text, "x" + with_escapes(secrets.hide(secret, "c"), escapes) + "y");
    EXPECT_THAT(text, AllOf(Not(HasSubstr("def")), Not(HasSubstr("pass"))));
  };
  // JSON
  expect_hidden(kToken, {{'/', "\\/"}});
  expect_hidden(kToken, {{'=', "\\u003d"}});
  expect_hidden(kToken, {{'/', "\\u002f"}, {'+', "\\u002b"}, {'=', "\\u003d"}});
  expect_hidden(kToken, {{'+', "\\u002B"}});
  expect_hidden(kPhrase, {{'"', "\\\""}});
  expect_hidden(kPhrase, {{'"', "\\\""}, {'&', "\\u0026"}});
  expect_hidden(kPhrase, {{'"', "\\u0022"}, {'&', "\\u0026"}, {'\'', "\\u0027"}});
  // HTML
  expect_hidden(kToken, {{'=', "&#x3D;"}});
  expect_hidden(kToken, {{'/', "&#x2F;"}, {'=', "&#x3D;"}});
  expect_hidden(kPhrase, {{'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#39;"}});
  expect_hidden(kPhrase, {{'&', "&amp;"}, {'"', "&quot;"}, {'\'', "&#x27;"}});
  // URLs and forms
  expect_hidden(kToken, {{'/', "%2F"}, {'+', "%2B"}, {'=', "%3D"}});
  expect_hidden(kToken, {{'/', "%2f"}, {'+', "%2b"}, {'=', "%3d"}});
  expect_hidden(kPhrase, {{' ', "+"},
                          {'&', "%26"},
                          {'"', "%22"},
                          {'\'', "%27"},
                          {'(', "%28"},
                          {')', "%29"},
                          {'~', "%7E"}});
}

TEST(Secrets, AreFoundWithTheUnicodeEscapesOfJson) {
  Secrets secrets(secrets_key(1));
  constexpr std::string_view kName = "Jos\xc3\xa9/1975 \"\xf0\x9f\x98\x80\"";
  ASSERT_TRUE(secrets.add(kName, "c", Searched::kYes));
  auto const stand_in = secrets.hide(kName, "c");
  EXPECT_THAT(stand_in, MatchesRegex("[A-Z][a-z]+/[0-9]+ \"[a-z]+\""));
  auto const expect_hidden = [&](std::string text, Escapes kept) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(secrets.hide_all(text));
    EXPECT_EQ(text, "x" + with_escapes(stand_in, kept) + "y");
  };
  // Python, PHP, .NET
  expect_hidden("xJos\\u00e9/1975 \\\"\\ud83d\\ude00\\\"y", {{'"', "\\\""}});
  expect_hidden("xJos\\u00e9\\/1975 \\\"\\ud83d\\ude00\\\"y", {{'"', "\\\""}, {'/', "\\/"}});
  expect_hidden("xJos\\u00E9/1975 \\u0022\\uD83D\\uDE00\\u0022y", {{'"', "\\u0022"}});
}

TEST(Secrets, OfQueriesAndFormsAreFoundWithSpacesForPlus) {
  Secrets secrets(secrets_key(1));
  ASSERT_TRUE(secrets.add("jane+doe%2B1975", "c", Searched::kPlusAsSpaceToo));
  ASSERT_TRUE(secrets.add("john+roe%2B1975", "c", Searched::kYes));
  EXPECT_EQ(secrets.counts().at("c").values, 2U);
  auto const with_plus = secrets.hide("jane+doe+1975", "c");
  auto with_space = with_plus;
  with_space[with_space.find('+')] = ' ';
  std::string text = "jane+doe+1975 jane doe+1975 john roe+1975";
  EXPECT_TRUE(secrets.hide_all(text));
  EXPECT_EQ(text, with_plus + " " + with_space + " john roe+1975");
}

TEST(Secrets, AreBounded) {
  Secrets secrets(secrets_key(1));
  std::string const large(100'000, 'a');
  EXPECT_EQ(secrets.hide(large, "c").size(), large.size());
  ASSERT_TRUE(secrets.add(large, "c", Searched::kNo));
  auto const rest = Secrets::kBytesMax - large.size();
  EXPECT_EQ(secrets.add(std::string(rest, 'a'), "c", Searched::kNo).error(),
            archive_errc::too_large);
}

}  // namespace
}  // namespace reprise
