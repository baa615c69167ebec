#include "pageload/browser/remote_connection.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

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

/// Arrays in arrays.
std::string nested_arrays(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ParseRemoteMessage, TakesDeepNestingAndRefusesAbsurd) {
  auto const nested = [](std::size_t depth) {
    return R"({"text":"x","a":)" + nested_arrays(depth) + "}";
  };
  EXPECT_EQ(text_of(nested(300)), "x");
  EXPECT_EQ(parse_remote_message(nested(100'000)).error(), std::errc::value_too_large);
}

/// These messages, and no more.
class GivenMessages final : public MessageStream {
 public:
  explicit GivenMessages(std::vector<std::string> messages) : messages_(std::move(messages)) {}

  void send(std::string_view) override {}
  Result<std::optional<std::string>> receive(TimePoint) override {
    if (next_ == messages_.size()) return std::nullopt;
    return std::optional(messages_[next_++]);
  }

 private:
  std::vector<std::string> messages_;
  std::size_t next_ = 0;
};

TEST(RemoteConnection, SkipsAnEventThatIsNestedTooDeeply) {
  std::vector<std::string> messages{
      R"({"method":"first","params":{}})",
      R"({"method":"log.entryAdded","params":{"args":)" + nested_arrays(1000) + "}}",
      R"({"method":"last","params":{}})"};
  RemoteConnection connection(std::make_unique<GivenMessages>(std::move(messages)));
  std::vector<std::string> events;
  connection.set_event_sink([&events](std::string_view, std::string_view method,
                                      const boost::json::object&) { events.emplace_back(method); });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(connection.pump({}).value_or(false)) << i;
  EXPECT_FALSE(connection.pump({}).value_or(true));
  EXPECT_EQ(events, (std::vector<std::string>{"first", "last"}));
}

TEST(RemoteConnection, LetsACallTimeOutWhoseReplyIsNestedTooDeeply) {
  std::vector<std::string> messages{R"({"id":1,"result":{"a":)" + nested_arrays(1000) + "}}"};
  RemoteConnection connection(std::make_unique<GivenMessages>(std::move(messages)));
  auto const reply = connection.call({.session = {}, .method = "read", .params = {}}, {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error(), std::errc::timed_out);
}

/// Always has an event, as if a page logged without end, but no more than a test can wait for.
class EndlessEvents final : public MessageStream {
 public:
  void send(std::string_view) override {}
  Result<std::optional<std::string>> receive(TimePoint) override {
    if (++received_ > kEventsMax) return fail(std::make_error_code(std::errc::broken_pipe));
    return std::optional<std::string>(R"({"method":"Runtime.consoleAPICalled","params":{}})");
  }

 private:
  static constexpr int kEventsMax = 10'000;
  int received_ = 0;
};

TEST(RemoteConnection, LetsACallTimeOutWhileEventsStillCome) {
  RemoteConnection connection(std::make_unique<EndlessEvents>());
  int events = 0;
  connection.set_event_sink(
      [&events](std::string_view, std::string_view, const boost::json::object&) { ++events; });
  auto const reply = connection.call({.session = {}, .method = "read", .params = {}}, {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error(), std::errc::timed_out);
  EXPECT_EQ(events, 1) << "the deadline had come before";
}

TEST(RemoteConnection, ReturnsAReplyThatIsThereAtTheDeadline) {
  std::vector<std::string> messages{R"({"id":1,"result":{"data":"x"}})"};
  RemoteConnection connection(std::make_unique<GivenMessages>(std::move(messages)));
  auto const reply = connection.call({.session = {}, .method = "read", .params = {}}, {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message();
  EXPECT_EQ(text_at(reply->result, "data"), "x");
}

TEST(RemoteConnection, PumpsUntilItsCallerHasWhatItNeeds) {
  RemoteConnection connection(std::make_unique<EndlessEvents>());
  int events = 0;
  connection.set_event_sink(
      [&events](std::string_view, std::string_view, const boost::json::object&) { ++events; });
  auto const never = std::chrono::steady_clock::time_point::max();
  EXPECT_TRUE(connection.pump_until([&events] { return events == 3; }, never).value_or(false));
  EXPECT_EQ(events, 3);
  EXPECT_TRUE(connection.pump_until([&events] { return events == 3; }, {}).value_or(false));
  EXPECT_FALSE(connection.pump_until([] { return false; }, {}).value_or(true));
  EXPECT_EQ(events, 4);
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
