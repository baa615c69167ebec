// Lines as scripts write them are read by their marks, others by simdjson's reader. Both must read
// the same from a line. A first field that is null and is not ours is for the second one alone.

#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <random>

#include "analysis/beacons/beacon_lines.h"
#include "analysis/beacons/json_marks.h"
#include "analysis/calls/call_lines.h"
#include "tests/analysis/beacons/beacon_files.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

/// All that a line is read as.
std::string read_as(const std::string& line) {
  static BeaconReader reader;  // of all lines, as for a file of them
  auto const view = reader.read(line);
  if (!view) return "not a view";
  auto const tree = tree_of(**view);
  auto text = call_line(tree);
  for (auto const& loss : tree.losses) text += loss.what + " " + std::to_string(loss.count) + "\n";
  return text;
}

void expect_same_both_ways(const std::string& line) {
  ASSERT_THAT(line, testing::StartsWith("{"));
  EXPECT_EQ(read_as(line), read_as("{\"x\":null," + line.substr(1))) << line;
}

const std::string kLean =
    R"({"beacon":1,"page":"https://a.test/","started":1795000000000.4,"load":5122,)"
    R"("tags":{"network":"4g","x":"null"},"cut":3,"full":1,)"
    R"("requests":[["https://a.test/","navigation",0,1205,820,10,200,250,300,300,400,550,560,1000],)"
    R"(["https://b.test/ads.js","script",12345678,123456789,0]],)"
    R"("scripts":[["https://b.test/ads.js",2000,2600]],"measures":[["app",0,900],["",5,5]]})";
const std::string kFull =
    R"({"page":"https://a.test/","tags":{},"entries":[{"name":"https://a.test/?x",)"
    R"("entryType":"navigation","startTime":0,"duration":600.0999999046326,)"
    R"("initiatorType":"navigation","deliveryType":"","nextHopProtocol":"h2",)"
    R"("contentType":"text/html","redirectStart":1,"redirectEnd":20.30000001192093,)"
    R"("domainLookupStart":25.0005,"domainLookupEnd":30,"connectStart":30.0015,)"
    R"("secureConnectionStart":40,"connectEnd":55.00049999,"requestStart":56.9995,)"
    R"("responseStart":100,"responseEnd":120.5,"transferSize":300,"decodedBodySize":5,)"
    R"("responseStatus":200,"loadEventStart":1512.25,)"
    R"("serverTiming":[{"name":"db","duration":12.5,"description":"d"},{"name":"x"}]},)"
    R"({"name":"m","entryType":"measure","startTime":10.10000002,"duration":5.20000001,)"
    R"("detail":{"a":[1,{"b":2}]}},)"
    R"({"name":"f","entryType":"long-animation-frame","startTime":70,"duration":90.5,)"
    R"("styleAndLayoutStart":140.25,"scripts":[{"startTime":71.5,"duration":20.000001,)"
    R"("sourceURL":"https://b.test/x.js","sourceFunctionName":"f","more":{"y":1}}]},)"
    R"({"name":"y","entryType":"unknown","startTime":7,"duration":0}]})";

TEST(BeaconMarks, ReadsWhatTheGeneralReaderReads) {
  expect_same_both_ways(kLean);
  expect_same_both_ways(kFull);
  for (auto const& line : lines_of("entries.ndjson")) {
    if (line.starts_with('{')) expect_same_both_ways(line);
  }
  EXPECT_THAT(read_as(kLean), testing::HasSubstr("https://b.test/ads.js"));
  EXPECT_THAT(read_as(kFull), testing::HasSubstr("db;dur=12.5"));
}

TEST(BeaconMarks, ReadsWhatTheGeneralReaderReadsAfterAnyChange) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  constexpr std::string_view kBytes = "\"\\{}[]:,0123456789.-+e nulltrue\t\n\xff\xc3\xa9";
  std::size_t views = 0;
  constexpr int kRounds = rounds_of(20'000);
  for (int round = 0; round < kRounds; ++round) {
    auto line = round % 2 == 0 ? kLean : kFull;
    for (auto changes = 1 + random() % 2; changes > 0; --changes) {
      auto const at = 1 + random() % (line.size() - 1);
      char const byte = kBytes[random() % kBytes.size()];
      switch (random() % 4) {
        case 0:
          line.erase(at, 1 + random() % 3);
          break;
        case 1:
          line.insert(at, 1, byte);
          break;
        case 2:
          line.insert(at, line.substr(random() % line.size(), random() % 40));
          break;
        default:
          line[at] = byte;
      }
    }
    expect_same_both_ways(line);
    if (HasFailure()) return;
    if (read_as(line) != "not a view") ++views;
  }
  EXPECT_GT(views, static_cast<std::size_t>(kRounds / 4));
}

/// The one number that is the text, as the walk rounds it.
std::int64_t thousandths(const std::string& number) {
  static JsonStage stage;
  JsonMarks marks;
  std::string line = "{\"a\":" + number + "}";
  auto const size = line.size();
  line.resize(size + 64);
  std::int64_t value = -1;
  const char* key = nullptr;
  EXPECT_TRUE(stage.start(std::string_view(line).substr(0, size), marks));
  EXPECT_TRUE(marks.take('{') && marks.key(key) && marks.thousandths(value) && marks.take('}') &&
              marks.is_done())
      << number;
  return value;
}

TEST(BeaconMarks, RoundsAsDoublesDo) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  EXPECT_EQ(thousandths("0"), 0);
  EXPECT_EQ(thousandths("1234.0004999"), 1'234'000);
  EXPECT_EQ(thousandths("99999999999"), 2 * CallTree::kWindowUsMax);
  EXPECT_EQ(thousandths("5.9604645e-9"), 0);
  EXPECT_EQ(thousandths("1.5E+2"), 150'000);
  for (auto const* const number :
       {"5.96e-9", "1e3", "1e", "1e+", "1.e5", "1e999", "01e1", "1e5x"}) {
    auto line = kFull;
    line.replace(line.find("600.0999999046326"), 17, number);
    expect_same_both_ways(line);
  }
  for (int i = 0; i < rounds_of(20'000); ++i) {
    // Often close to the middle of two thousandths.
    auto text = std::to_string(random() % (std::uint64_t{1} << random() % 34)) + "." +
                std::to_string(1000 + random() % 1000).substr(1);
    if (random() % 2 == 0) text += random() % 2 == 0 ? "4999" : "5000";
    for (auto digits = random() % 12; digits > 0; --digits) {
      text += static_cast<char>('0' + random() % 10);
    }
    auto const exact = std::strtod(text.c_str(), nullptr) * 1000;
    ASSERT_EQ(thousandths(text),
              std::min(static_cast<std::int64_t>(exact + .5), 2 * CallTree::kWindowUsMax))
        << text;
  }
}

}  // namespace
}  // namespace reprise
