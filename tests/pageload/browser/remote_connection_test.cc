#include "pageload/browser/remote_connection.h"

#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "base/text/json_fields.h"

namespace reprise {
namespace {

std::string text_of(std::string message) {
  auto const parsed = parse_remote_message(std::move(message));
  return parsed ? std::string(text_at(*parsed, "text")) : parsed.error().message();
}

TEST(ParseRemoteMessage, ReplacesLoneSurrogates) {
  EXPECT_EQ(text_of(R"({"text":"a\ud800b"})"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(text_of(R"({"text":"\uDC00"})"), "\xEF\xBF\xBD");
  EXPECT_EQ(text_of(R"({"text":"\ud800\ud800\udc00"})"), "\xEF\xBF\xBD\xF0\x90\x80\x80");
  EXPECT_EQ(text_of(R"({"text":"\ud800\u0041"})"),
            "\xEF\xBF\xBD"
            "A");
}

TEST(ParseRemoteMessage, LeavesTextThatOnlyLooksLikeASurrogate) {
  EXPECT_EQ(text_of(R"({"text":"\\ud800 \ud800"})"), "\\ud800 \xEF\xBF\xBD");
}

TEST(ParseRemoteMessage, TakesDeepNestingAndRefusesAbsurd) {
  auto const nested = [](int depth) {
    return "{\"text\":\"x\",\"a\":" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}";
  };
  EXPECT_EQ(text_of(nested(300)), "x");
  EXPECT_FALSE(parse_remote_message(nested(100'000)).has_value());
}

TEST(ParseRemoteMessage, RefusesWhatIsNoObject) {
  for (auto const text : {"", "[]", "7", "{", "{\"a\":\"\\u12\"}", "\xff\xfe"}) {
    EXPECT_EQ(parse_remote_message(text).error(), std::errc::bad_message) << text;
  }
}

TEST(JsonFields, HaveDefaultsForWhatIsMissingOrAnotherType) {
  auto const object = *parse_remote_message(R"({"text":5,"number":"x","object":[],"big":1e300})");
  EXPECT_EQ(text_at(object, "text"), "");
  EXPECT_EQ(number_at(object, "number", 7), 7);
  EXPECT_TRUE(object_at(object, "object").empty());
  EXPECT_TRUE(array_at(object, "none").empty());
  EXPECT_FALSE(flag_at(object, "text"));
  EXPECT_EQ(integer_at(object, "big"), std::numeric_limits<std::int64_t>::max());
}

TEST(DecodeBase64, TakesItsPadding) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("aGVsbG8="), "hello");
  EXPECT_EQ(decode_base64("AP+A"), std::string("\0\xFF\x80", 3));
  EXPECT_EQ(decode_base64("QQ=="), "A");
}

TEST(DecodeBase64, RefusesEverythingElse) {
  for (auto const text : {"Q", "QQ", "QQ=", "Q===", "====", "QQ==QQ==", " QQ=", "QU\n=", "QU-_"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace reprise
