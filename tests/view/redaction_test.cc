#include "view/redaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string value_of(std::string_view name, std::string_view value) {
  Redaction redaction;
  return redaction.value({.name = name, .value = value});
}

std::string text_of_page(std::string_view text) {
  Redaction redaction;
  return redaction.text(text);
}

TEST(Redaction, HidesCookiesButNotTheirNamesAndAttributes) {
  EXPECT_EQ(value_of("cookie", "sid=abc; theme=dark"), "sid=REDACTED; theme=REDACTED");
  EXPECT_EQ(value_of("Set-Cookie", "sid=\"abc\"; Path=/; Secure"),
            "sid=\"REDACTED\"; Path=/; Secure");
}

TEST(Redaction, HidesCredentialsButNotTheirScheme) {
  EXPECT_EQ(value_of("Authorization", "Bearer abc"), "Bearer REDACTED");
  EXPECT_EQ(value_of("proxy-authorization", "Basic dTpw"), "Basic REDACTED");
  EXPECT_EQ(text_of_page("https://me:pass@a.test/x@y"), "https://REDACTED@a.test/x@y");
  EXPECT_EQ(text_of_page("error: sent Bearer abcdefgh, got 401"),
            "error: sent Bearer REDACTED, got 401");
}

/// One that reads all that follows each mark takes minutes.
TEST(Redaction, ReadsATokenOnceHoweverManyMarksAreInIt) {
  std::string tokens;
  while (tokens.size() < std::size_t{1} << 20) tokens += "eyJ";
  EXPECT_EQ(value_of("x-note", tokens), "REDACTED");
  EXPECT_EQ(value_of("x-note", "eyJ " + tokens + " eyJeyJ"), "eyJ REDACTED eyJeyJ");
}

TEST(Redaction, HidesFieldsWhoseNameSaysSo) {
  for (auto const* name : {"X-Api-Key", "x-csrf-token", "X-Session-Id", "x-auth", "x-secret"}) {
    EXPECT_EQ(value_of(name, "a b"), "REDACTED") << name;
  }
  for (auto const* name : {"x-author", "keep-alive", "sec-websocket-key", "www-authenticate"}) {
    EXPECT_EQ(value_of(name, "a b"), "a b") << name;
  }
}

TEST(Redaction, HidesValuesThatLookRandomUnlessTheFieldGivesNoAccess) {
  constexpr std::string_view kRandom = "9f86d081884c7d659a2feaa0";
  EXPECT_EQ(value_of("x-trace", std::string(kRandom) + "; q=1"), "REDACTED; q=1");
  EXPECT_EQ(value_of("etag", kRandom), kRandom);
  EXPECT_EQ(value_of("x-served-by", "a-very-long-but-plain-name-2"),
            "a-very-long-but-plain-name-2");
  EXPECT_EQ(value_of("x-random", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"), "REDACTED");
}

TEST(Redaction, TakesAFieldForOpenByItsWholeNameOrByAGroupOfNames) {
  constexpr std::string_view kRandom = "9f86d081884c7d659a2feaa0";
  for (auto const* name : {"Sec-WebSocket-Protocol", "sec-anything", "agent-id", "hostkey",
                           "linked-account", "server-ticket", "via-user", "dated"}) {
    EXPECT_EQ(value_of(name, "v1, " + std::string(kRandom)), "v1, REDACTED") << name;
  }
  for (auto const* name :
       {"Age", "Host", "Sec-CH-UA", "sec-fetch-site", "Sec-WebSocket-Key", "sec-websocket-accept",
        "Accept-Language", "content-type", "If-None-Match", "server-timing"}) {
    EXPECT_EQ(value_of(name, kRandom), kRandom) << name;
  }
}

TEST(Redaction, HidesParametersByNameAndByLook) {
  EXPECT_EQ(text_of_page("https://a.test/?page=2&access_token=x&q=shoes#id_token=y"),
            "https://a.test/?page=2&access_token=REDACTED&q=shoes#id_token=REDACTED");
  EXPECT_EQ(text_of_page("https://a.test/?v=9f86d081884c7d659a2feaa0"),
            "https://a.test/?v=REDACTED");
  EXPECT_EQ(text_of_page("https://a.test/?next=https%3A%2F%2Fb.test%2F%3Ftoken%3Dx"),
            "https://a.test/?next=REDACTED");
  EXPECT_EQ(text_of_page("https://a.test/?next=https%3A%2F%2Fb.test%2F%3Fq%3Dx"),
            "https://a.test/?next=https%3A%2F%2Fb.test%2F%3Fq%3Dx");
  EXPECT_EQ(value_of("location", "/in?code=x"), "/in?code=REDACTED");
}

TEST(Redaction, HidesParametersThatAreNestedTooDeeply) {
  EXPECT_EQ(text_of_page("/?q=x?q=x?q=x"), "/?q=x?q=x?q=x");
  std::string url = "/?q=x";
  for (int i = 0; i < 20'000; ++i) url += "?q=x";
  EXPECT_EQ(text_of_page(url), "/?q=REDACTED");
}

TEST(Redaction, HidesLearntSecretsWhereverTheyAre) {
  ScratchFolder const folder;
  auto const path = folder / "a.reprise";
  {
    auto const writer = create_archive(path);
    ASSERT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/");
    exchange.request.headers =
        Headers{{"cookie", "sid=planted-4711; lang=english"}, {"authorization", "Bearer key-0815"}};
    add(*writer, std::move(exchange));
    ASSERT_TRUE(writer->close());
  }
  Redaction redaction;
  ASSERT_TRUE(redaction.learn(*open_archive(path)));
  ASSERT_TRUE(redaction.learn("https://a.test/?token=in-url-42"));
  EXPECT_EQ(redaction.text("https://a.test/of/planted-4711/key-0815/in-url-42/english"),
            "https://a.test/of/REDACTED/REDACTED/REDACTED/english");
  boost::json::value json = {{"planted-4711", {"planted-4711", 1}}};
  redaction.hide_in(json);
  EXPECT_EQ(boost::json::serialize(json), R"({"planted-4711":["REDACTED",1]})");
}

}  // namespace
}  // namespace reprise
