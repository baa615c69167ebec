#include "proxy/replay/response/preconditions.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/http/http_date.h"

namespace reprise {
namespace {

constexpr std::string_view kModified = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view kBefore = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr std::string_view kAfter = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr std::uint64_t kSize = 1000;

std::vector<HeaderView> stored() {
  return {{.name = "ETag", .value = "\"tag\""}, {.name = "Last-Modified", .value = kModified}};
}

TEST(HttpDate, HasThreeForms) {
  using namespace std::chrono;
  sys_seconds const moment = sys_days(1994y / November / 6) + 8h + 49min + 37s;
  EXPECT_EQ(parse_http_date(kModified), moment);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), moment);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), moment);
  EXPECT_EQ(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), sys_seconds());
  EXPECT_EQ(parse_http_date("Wednesday, 29-Feb-12 23:59:60 GMT"), sys_days(2012y / March / 1) + 0s);
}

TEST(HttpDate, IsNothingElse) {
  for (auto const* const text : {"",
                                 "0",
                                 "-1",
                                 "Sun",
                                 "Sun,",
                                 "Sun, ",
                                 "Sun, 06 Nov 1994",
                                 "Sun, 06 Nov 1994 08:49:37",
                                 "Sun, 06 Nov 1994 08:49:37 GMT ",
                                 "Sun, 06 Nov 1994 08:49:37 UTC",
                                 "Sun, 31 Feb 1994 08:49:37 GMT",
                                 "Sun, 06 nov 1994 08:49:37 GMT",
                                 "Sun, 06 Nov 1994 24:00:00 GMT",
                                 "Sun, 06 Nov 1994 08:60:00 GMT",
                                 "Sun, 6 Nov 1994 08:49:37 GMT",
                                 "Sun, 06 Nov 94 08:49:37 GMT",
                                 "Sun Nov 6 08:49:37 1994",
                                 "Sun, 0x Nov 1994 08:49:37 GMT",
                                 "Sun, 06-Nov-1994 08:49:37 GMT",
                                 "Sun, 06 Nov 99999 08:49:37 GMT",
                                 "1994-11-06T08:49:37Z"}) {
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
  }
}

struct Case {
  std::vector<HeaderView> request;
  Precondition expected;
};

TEST(Preconditions, AreHeldAgainstWhatIsStored) {
  constexpr auto kHolds = Precondition::kHolds;
  constexpr auto kSame = Precondition::kNotModified;
  constexpr auto kFailed = Precondition::kFailed;
  for (const Case& each : std::initializer_list<Case>{
           {{}, kHolds},
           {{{"If-None-Match", "\"tag\""}}, kSame},
           {{{"if-none-match", "W/\"tag\""}}, kSame},
           {{{"If-None-Match", "*"}}, kSame},
           {{{"If-None-Match", "\"other\" , W/\"tag\""}}, kSame},
           {{{"If-None-Match", "\"a,b\",\"tag\""}}, kSame},
           {{{"If-None-Match", "\"tag"}}, kHolds},
           {{{"If-None-Match", "\"tag\"x"}}, kHolds},
           {{{"If-None-Match", "\"other\""}}, kHolds},
           {{{"If-None-Match", ""}}, kHolds},
           {{{"If-Modified-Since", kModified}}, kSame},
           {{{"If-Modified-Since", kBefore}}, kHolds},
           {{{"If-Modified-Since", kAfter}}, kHolds},
           {{{"If-Modified-Since", "yesterday"}}, kHolds},
           {{{"If-None-Match", "\"tag\""}, {"If-Modified-Since", kBefore}}, kSame},
           {{{"If-None-Match", "\"other\""}, {"If-Modified-Since", kModified}}, kHolds},
           {{{"If-None-Match", "\"tag\""}, {"If-Modified-Since", kModified}}, kSame},
           {{{"If-Match", "\"tag\""}}, kHolds},
           {{{"If-Match", "*"}}, kHolds},
           {{{"If-Match", "W/\"tag\""}}, kFailed},
           {{{"If-Match", "\"other\""}}, kFailed},
           {{{"If-Match", "\"other\""}, {"If-None-Match", "\"tag\""}}, kFailed},
           {{{"If-Unmodified-Since", kModified}}, kHolds},
           {{{"If-Unmodified-Since", kAfter}}, kHolds},
           {{{"If-Unmodified-Since", kBefore}}, kFailed},
           {{{"If-Unmodified-Since", "yesterday"}}, kFailed}}) {
    EXPECT_EQ(check_preconditions(each.request, stored()), each.expected)
        << (each.request.empty() ? "none" : std::string(each.request[0].value));
  }
}

TEST(Preconditions, TakeTheDatesOfEarlierReplays) {
  // Served as kModified, as kAfter, and a second later.
  constexpr std::chrono::seconds kShift(2);
  constexpr std::string_view kMoved = "Sun, 06 Nov 1994 08:49:39 GMT";
  constexpr std::string_view kLater = "Sun, 06 Nov 1994 08:49:40 GMT";
  auto const check = [&](std::string_view name, std::string_view value) {
    return check_preconditions(std::vector<HeaderView>{{name, value}}, stored(), kShift);
  };
  for (auto const date : {kModified, kAfter, kMoved}) {
    EXPECT_EQ(check("If-Modified-Since", date), Precondition::kNotModified) << date;
    EXPECT_EQ(check("If-Unmodified-Since", date), Precondition::kHolds) << date;
    std::vector<HeaderView> const part{{"Range", "bytes=0-9"}, {"If-Range", date}};
    EXPECT_EQ(select_ranges(part, stored(), kSize, kShift).ranges.size(), 1U) << date;
  }
  EXPECT_EQ(check("If-Modified-Since", kBefore), Precondition::kHolds);
  EXPECT_EQ(check("If-Modified-Since", kLater), Precondition::kHolds);
  EXPECT_EQ(check("If-Unmodified-Since", kBefore), Precondition::kFailed);
}

TEST(Preconditions, OfWhatHasNoValidators) {
  std::vector<HeaderView> const none;
  auto const check = [&none](std::string_view name, std::string_view value) {
    return check_preconditions(std::vector<HeaderView>{{name, value}}, none);
  };
  EXPECT_EQ(check("If-None-Match", "\"tag\""), Precondition::kHolds);
  EXPECT_EQ(check("If-None-Match", "*"), Precondition::kNotModified);
  EXPECT_EQ(check("If-Modified-Since", kModified), Precondition::kHolds);
  EXPECT_EQ(check("If-Match", "\"tag\""), Precondition::kFailed);
  EXPECT_EQ(check("If-Unmodified-Since", kModified), Precondition::kFailed);
}

/// "0-99,200-299", "whole", "none".
std::string selected(std::string_view range, std::uint64_t size = kSize,
                     std::vector<HeaderView> more = {}) {
  more.push_back({.name = "Range", .value = range});
  auto const selection = select_ranges(more, stored(), size);
  if (selection.kind == Selection::Kind::kWhole) return "whole";
  if (selection.kind == Selection::Kind::kUnsatisfiable) return "none";
  std::string text;
  for (const ByteRange& each : selection.ranges) {
    text +=
        (text.empty() ? "" : ",") + std::to_string(each.begin) + '-' + std::to_string(each.end - 1);
  }
  return text;
}

TEST(Ranges, AreSelectedAsNginxDoes) {
  for (auto const& [range, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"bytes=0-0", "0-0"},
           {"bytes=0-99", "0-99"},
           {"BYTES=0-99", "0-99"},
           {"bytes=0-", "0-999"},
           {"bytes=999-", "999-999"},
           {"bytes=1000-", "none"},
           {"bytes=-1", "999-999"},
           {"bytes=-2000", "0-999"},
           {"bytes=-0", "none"},
           {"bytes=900-5000", "900-999"},
           {"bytes=9-5", "none"},
           {"bytes=0-99,200-299", "0-99,200-299"},
           {"bytes=0-99, 200-299 , -5", "0-99,200-299,995-999"},
           {"bytes=200-299,0-99", "200-299,0-99"},
           {"bytes=0-9,5-14", "0-9,5-14"},
           {"bytes=0-999,0-0", "whole"},
           {"bytes=0-0,5000-", "0-0"},
           {"bytes=5000-,6000-", "none"},
           {"bytes= 1 - 2 ", "1-2"},
           {"bytes=", "whole"},
           {"bytes", "whole"},
           {"items=0-5", "whole"},
           {"bytes=a-b", "none"},
           {"bytes=1", "none"},
           {"bytes=1-2x", "none"},
           {"bytes=--1", "none"},
           {"bytes=0-99,x", "none"},
           {"bytes=0-99,", "none"},
           {"bytes=9223372036854775808-", "none"},
           {"bytes=0-9223372036854775807", "0-999"},
           {"bytes=99999999999999999999999-", "none"}}) {
    EXPECT_EQ(selected(range), expected) << range;
  }
  EXPECT_EQ(selected("bytes=0-", 0), "whole");
  EXPECT_EQ(selected("bytes=-5", 0), "whole");
  EXPECT_EQ(selected("bytes=1-", 0), "none");
}

TEST(Ranges, CountOnlyWhereIfRangeHolds) {
  for (auto const& [value, expected] :
       std::initializer_list<std::pair<std::string_view, const char*>>{{"\"tag\"", "0-9"},
                                                                       {"W/\"tag\"", "whole"},
                                                                       {"\"other\"", "whole"},
                                                                       {kModified, "0-9"},
                                                                       {kAfter, "whole"},
                                                                       {"yesterday", "whole"},
                                                                       {"", "whole"}}) {
    EXPECT_EQ(selected("bytes=0-9", kSize, {{.name = "If-Range", .value = value}}), expected)
        << value;
  }
}

}  // namespace
}  // namespace reprise
