#include "analysis/trench/trench_fields.h"

#include <gmock/gmock.h>

#include <random>

#include "analysis/trench/trench_json.h"
#include "base/bytes.h"
#include "base/text/base64.h"
#include "tests/analysis/trench/trench_field_values.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A class that calls a method `calls` times; the method's name fills the JSON up to `json_bytes`.
TrenchTrace trace_of_size(std::uint32_t calls, std::size_t json_bytes) {
  TrenchTrace trace{.points = {{"shop.Cart", "show", 12}, {"shop.Tax", "", -1}}, .nodes = {}};
  trace.nodes.push_back({.point = 0, .hits = 1, .inclusive_us = 443'000});
  for (std::uint32_t i = 0; i < calls; ++i) {
    trace.nodes.push_back({.point = 1, .hits = i, .inclusive_us = 1'500 * i, .caller = 0});
  }
  trace.points[1].method.assign(json_bytes - trench_json(trace).size(), 'm');
  return trace;
}

std::vector<HeaderView> fields_of(const std::vector<std::string>& values) {
  std::vector<HeaderView> fields;
  for (auto const& value : values) fields.push_back({.name = kTrenchField, .value = value});
  return fields;
}

std::string fault(const std::vector<std::string>& values) {
  auto const fields = read_trench_fields(fields_of(values));
  return fields ? "none" : fields.error();
}

TEST(TrenchFields, HaveLinesOf76Characters) {
  auto const trace = trace_of_size(130, 3498);
  auto const values = trench_field_values(trace);
  ASSERT_THAT(values, SizeIs(1 + 62));
  EXPECT_EQ(values[0].substr(0, values[0].find("; jsoncrc32")), "base64lines=62; base64bytes=4664");
  EXPECT_TRUE(values[0].ends_with("; jsonbytes=3498"));
  EXPECT_EQ(values[1].size(), 2 + 76u);
  EXPECT_EQ(values[62].size(), 3 + (4664 - 61 * 76u));
  auto const read = read_trench_fields(fields_of(values));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->trace, trace);
  EXPECT_THAT(read->url, IsEmpty());
}

/// The example of TRENCH.md, made by Python's base64 and zlib.
TEST(TrenchFields, AreThoseOfOthers) {
  std::vector<std::string> const shop = {
      "url=/traces/81",
      "base64lines=5; base64bytes=312; jsoncrc32=4125924094; jsonbytes=232",
      "0=eyJ2ZXJzaW9uIjoxLCJzdGFja0NvbHVtbnMiOlsicG9pbnQiLCJoaXRzIiwibXMiLCJjaGlsZHJl",
      "1=biJdLCJzdGFjayI6W1swLDEsNDQzLFsxXV0sWzEsMywxOTkuNSxbXV1dLCJjbGFzc2VzQ29sdW1u",
      "2=cyI6WyJuYW1lIl0sImNsYXNzZXMiOltbInNob3AuQ2FydCJdXSwicG9pbnRzQ29sdW1ucyI6WyJj",
      "3=bGFzcyIsIm1ldGhvZCIsImxpbmUiXSwicG9pbnRzIjpbWzAsInNob3ciLDEyXSxbMCwidGF4Iiwt",
      "4=MV1dfQ=="};
  auto const read = read_trench_fields(fields_of(shop));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->url, "/traces/81");
  ASSERT_TRUE(read->trace);
  EXPECT_THAT(read->trace->points, ElementsAre(TrenchPoint{"shop.Cart", "show", 12},
                                               TrenchPoint{"shop.Cart", "tax", -1}));
  EXPECT_THAT(trench_field_values(*read->trace),
              testing::ElementsAreArray(std::span(shop).subspan(1)));
}

TEST(TrenchFields, CanBeShuffledJoinedAndOfAnyCase) {
  auto const trace = trace_of_size(70, 2000);
  auto values = trench_field_values(trace);
  values.push_back("URL=/traces/81?a=1,2;b=3");
  std::ranges::reverse(values);
  auto const joined = [&values](std::size_t from, std::size_t to) {
    auto line = values[from];
    while (++from < to) line += (from % 2 == 0 ? "," : " , ") + values[from];
    return line;
  };
  auto const half = values.size() / 2;
  auto const first = joined(0, half);
  auto const second = joined(half, values.size());
  std::vector<HeaderView> const head = {{"content-type", "text/html"}, {"banky-trace", first}};
  std::vector<HeaderView> const trailers = {{"BANKY-TRACE", second}, {"Banky-Trace", values[3]}};
  auto const read = read_trench_fields(head, trailers);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->trace, trace);
  EXPECT_EQ(read->url, "/traces/81?a=1,2;b=3");
}

/// What looks for a line from each comma to the end of the field takes minutes.
TEST(TrenchFields, CanBeFullOfCommas) {
  std::string const commas(std::size_t{1} << 20, ',');
  std::string const blanks(commas.size(), ' ');
  auto const read = read_trench_fields(fields_of({"url=/" + commas + blanks, "URL=/" + commas}));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->url, "/" + commas);
}

TEST(TrenchFields, CanBeAUrlAlone) {
  auto const read = read_trench_fields(fields_of({"url=https://shop.test/traces/81"}));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->url, "https://shop.test/traces/81");
  EXPECT_FALSE(read->trace);
  auto const none = read_trench_fields({});
  ASSERT_TRUE(none);
  EXPECT_THAT(none->url, IsEmpty());
  EXPECT_FALSE(none->trace);
}

TEST(TrenchFields, SayWhatIsWrong) {
  auto const good = trench_field_values(trace_of_size(70, 2000));
  auto const with = [&good](std::size_t i, std::string value) {
    auto values = good;
    values[i] = std::move(value);
    return fault(values);
  };
  auto values = good;
  values.erase(values.begin() + 5);
  EXPECT_EQ(fault(values), "line 4 of 36 is missing");
  values = good;
  values.pop_back();
  EXPECT_EQ(fault(values), "line 35 of 36 is missing");
  values = good;
  values.erase(values.begin());
  EXPECT_EQ(fault(values), "base64lines is missing");
  values = good;
  values.push_back("36=AAAA");
  EXPECT_EQ(fault(values), "line 36 is beyond the last of 36");
  values.back() = "18446744073709551616=AAAA";
  EXPECT_EQ(fault(values), "a line is not a URL, a count or a part");
  values.back() = "3=AAAA";
  EXPECT_EQ(fault(values), "line 3 comes twice, with different text");
  values.back() = "jsonbytes=7";
  EXPECT_EQ(fault(values), "jsonbytes comes twice, with different numbers");
  values.back() = "jsonbytes=-7";
  EXPECT_EQ(fault(values), "jsonbytes must be a number");
  values.back() = "hello";
  EXPECT_EQ(fault(values), "a line is not a URL, a count or a part");
  EXPECT_EQ(fault({"url=/a", "url=/b"}), "it has two different URLs");
  EXPECT_EQ(with(1, "0=AAAA"), "base64bytes is 2668, but the lines have 2596 characters");
  auto const stars = "0=" + std::string(76, '*');
  EXPECT_EQ(with(1, stars), "its lines are not base64");
  auto const zeros = "0=" + std::string(76, 'A');
  EXPECT_THAT(with(1, zeros), testing::ContainsRegex("jsoncrc32 is [0-9]+, but the CRC-32 of the"));
  EXPECT_EQ(fault({"base64lines=1; base64bytes=4; jsoncrc32=0; jsonbytes=9", "0=AAAA"}),
            "jsonbytes is 9, but the lines hold 3 bytes");
  EXPECT_EQ(fault({"base64lines=1; base64bytes=4; jsoncrc32=4282505490; jsonbytes=3", "0=AAAA"}),
            "its JSON: not JSON: syntax error");
}

TrenchTrace random_trace(std::mt19937_64& random) {
  TrenchTrace trace;
  auto const below = [&random](std::uint64_t limit) { return random() % limit; };
  auto const name = [&] {
    static constexpr std::string_view kLetters[] = {"a", "Z", "$", "\"", "\\", "\n", "é", "<", ","};
    std::string text;
    for (auto left = below(6); left > 0; --left) text += kLetters[below(std::size(kLetters))];
    return text;
  };
  for (auto left = 1 + below(5); left > 0; --left) {
    trace.points.push_back({.class_name = name(),
                            .method = name(),
                            .line = static_cast<std::int64_t>(below(100)) - 1});
  }
  std::vector<std::uint32_t> open;  // those that the next one can be called by
  for (auto left = below(30); left > 0; --left) {
    open.resize(open.size() - below(open.size() + 1));
    trace.nodes.push_back(
        {.point = static_cast<std::uint32_t>(below(trace.points.size())),
         .hits = below(1'000'000),
         .inclusive_us = static_cast<std::int64_t>(below(std::uint64_t{1} << below(36))),
         .caller = open.empty() ? TrenchNode::kNoCaller : open.back()});
    open.push_back(static_cast<std::uint32_t>(trace.nodes.size() - 1));
  }
  return trace;
}

TEST(TrenchFields, ComeBackAsTheyWere) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  for (int i = 0; i < rounds_of(10'000); ++i) {
    auto const trace = random_trace(random);
    auto values = trench_field_values(trace);
    std::ranges::shuffle(values, random);
    auto const read = read_trench_fields(fields_of(values));
    ASSERT_TRUE(read) << read.error();
    ASSERT_EQ(read->trace, trace) << trench_json(trace);
  }
}

}  // namespace
}  // namespace reprise
