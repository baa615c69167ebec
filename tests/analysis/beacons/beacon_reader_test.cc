#include "analysis/beacons/beacon_reader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "analysis/beacons/beacon_lines.h"
#include "analysis/beacons/beacon_script.h"
#include "analysis/contribution/share.h"
#include "tests/analysis/beacons/beacon_files.h"

namespace reprise {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

/// "request https://a.test/ 0 100", "  wait 10 90": the calls with their times in us.
std::vector<std::string> shown(const CallTree& tree) {
  std::vector<std::string> lines;
  for (Call const& call : tree.calls) {
    lines.push_back((call.parent == kNoParent ? "" : "  ") + call.name + " " +
                    std::to_string(call.start_us) + " " + std::to_string(call.end_us));
  }
  return lines;
}

std::vector<Call> requests_of(const CallTree& tree) {
  std::vector<Call> requests;
  for (Call const& call : tree.calls) {
    if (call.kind == CallKind::kRequest) requests.push_back(call);
  }
  return requests;
}

CallTree tree_with(std::string_view entries) {
  return read_tree(R"({"entries":[)" + std::string(entries) + "]}");
}

constexpr std::string_view kNavigation =
    R"({"name":"https://a.test/?x","entryType":"navigation","startTime":0,"duration":600,)"
    R"("initiatorType":"navigation","redirectStart":1,"redirectEnd":20,"domainLookupStart":25,)"
    R"("domainLookupEnd":30,"connectStart":30,"secureConnectionStart":40,"connectEnd":55,)"
    R"("requestStart":56,"responseStart":100,"responseEnd":120.5,"loadEventStart":512.25})";

TEST(BeaconReader, MakesPhasesThatCoverTheRequest) {
  auto const tree = tree_with(kNavigation);
  EXPECT_EQ(tree.page, "https://a.test/?x");
  EXPECT_EQ(tree.window_us, 512'250);
  EXPECT_THAT(shown(tree),
              ElementsAre("https://a.test/?x 0 120500", "  queued 0 1000", "  redirect 1000 20000",
                          "  queued 20000 25000", "  dns 25000 30000", "  connect 30000 40000",
                          "  tls 40000 55000", "  queued 55000 56000", "  wait 56000 100000",
                          "  receive 100000 120500"));
  EXPECT_EQ(tree.calls[0].attribute("type"), "Document");
}

TEST(BeaconReader, KeepsTheDurationAloneWithoutTimingAllowOrigin) {
  auto const tree =
      tree_with(R"({"name":"https://b.test/","entryType":"resource","startTime":10,"duration":20,)"
                R"("initiatorType":"img","requestStart":0,"responseStart":0,"responseEnd":30})");
  EXPECT_THAT(shown(tree), ElementsAre("https://b.test/ 10000 30000"));
  EXPECT_EQ(tree.window_us, 30'000);
}

TEST(BeaconReader, TakesAReusedConnectionAndAPlainOneAsTheyAre) {
  auto const tree = tree_with(
      R"({"name":"reused","entryType":"resource","startTime":10,"domainLookupStart":10,)"
      R"("domainLookupEnd":10,"connectStart":10,"secureConnectionStart":10,"connectEnd":10,)"
      R"("requestStart":12,"responseStart":15,"responseEnd":18},)"
      R"({"name":"plain","entryType":"resource","startTime":10,"domainLookupStart":10,)"
      R"("domainLookupEnd":10,"connectStart":10,"secureConnectionStart":0,"connectEnd":11,)"
      R"("requestStart":11,"responseStart":0,"responseEnd":18})");
  EXPECT_THAT(shown(tree),
              ElementsAre("reused 10000 18000", "  queued 10000 12000", "  wait 12000 15000",
                          "  receive 15000 18000", "plain 10000 18000", "  connect 10000 11000",
                          "  wait 11000 18000"));
}

TEST(BeaconReader, ReadsWorkOfTheMainThreadAndOfThePage) {
  auto const tree = tree_with(
      R"({"name":"long-animation-frame","entryType":"long-animation-frame","startTime":100,)"
      R"("duration":100,"styleAndLayoutStart":190,"scripts":[{"name":"script","startTime":120,)"
      R"("duration":50,"sourceURL":"https://a.test/a.js","sourceFunctionName":"run"}]},)"
      R"({"name":"app","entryType":"measure","startTime":0,"duration":90},)"
      R"({"name":"first-paint","entryType":"paint","startTime":80,"duration":0},)"
      R"({"name":"self","entryType":"longtask","startTime":80,"duration":0})");
  EXPECT_THAT(shown(tree), ElementsAre("script 120000 170000", "layout 190000 200000",
                                       "app 0 90000", "first-paint 80000 80000"));
  EXPECT_EQ(tree.calls[0].kind, CallKind::kTask);
  EXPECT_EQ(tree.calls[0].attribute("url"), "https://a.test/a.js");
  EXPECT_EQ(tree.calls[0].attribute("function"), "run");
  EXPECT_EQ(tree.calls[2].kind, CallKind::kMeasure);
  EXPECT_THAT(tree.losses,
              ElementsAre(Field(&CallLoss::what, "entries of types that are not read")));
}

TEST(BeaconReader, ReadsFieldsInAnyOrderAndPassesOverOthers) {
  auto const tree = read_tree(
      R"({"new":{"a":[1,{"b":"]}"}]},"entries":[{"responseEnd":30,"later":[[]],"startTime":10,)"
      R"("requestStart":12,"entryType":"resource","initiatorType":"link",)"
      R"("name":"https://a.test/\u00e9\"\n.css"}],"tags":{"build":7,"kind":"new","none":null},)"
      R"("started":1795000000000.5,"page":"p"})");
  EXPECT_EQ(tree.page, "p");
  EXPECT_EQ(tree.started_unix_ms, 1795000000000.5);
  EXPECT_THAT(tree.tags, ElementsAre(Pair("build", "7"), Pair("kind", "new")));
  ASSERT_THAT(requests_of(tree), SizeIs(1));
  EXPECT_EQ(tree.calls[0].name, "https://a.test/\u00e9\"\n.css");
  EXPECT_EQ(tree.calls[0].attribute("type"), "Stylesheet");
}

TEST(BeaconReader, ReadsTheLeanForm) {
  auto const tree = read_tree(
      R"({"beacon":1,"page":"https://a.test/","started":1795000000000,"load":5122,)"
      R"("tags":{"network":"4g"},"requests":[)"
      R"(["https://a.test/","navigation",0,1205,820,10,200,250,300,300,400,550,560,1000],)"
      R"(["https://b.test/x.js","script",1300,2000,0]],)"
      R"("scripts":[["https://b.test/x.js",2000,2600]],"measures":[["app",0,900]],)"
      R"("cut":3,"full":1})");
  EXPECT_EQ(tree.window_us, 512'200);
  EXPECT_EQ(tree.tag("network"), "4g");
  EXPECT_THAT(shown(tree),
              ElementsAre("https://a.test/ 0 120500", "  queued 0 1000", "  redirect 1000 20000",
                          "  queued 20000 25000", "  dns 25000 30000", "  connect 30000 40000",
                          "  tls 40000 55000", "  queued 55000 56000", "  wait 56000 100000",
                          "  receive 100000 120500", "https://b.test/x.js 130000 200000",
                          "script 200000 260000", "app 0 90000"));
  EXPECT_EQ(tree.calls[0].attribute("bytes"), "820");
  EXPECT_THAT(tree.losses, Contains(Field(&CallLoss::count, 3)));
  EXPECT_THAT(tree.losses, SizeIs(2));
}

TEST(BeaconReader, ReadsWhatARealBrowserGives) {
  auto const tree = read_tree(lines_of("entries.ndjson").at(0));
  EXPECT_EQ(tree.page, "https://shop.test/?x=1");
  EXPECT_EQ(tree.tag("country"), "DE");
  auto const requests = requests_of(tree);
  ASSERT_THAT(requests, SizeIs(12));
  EXPECT_EQ(requests[0].attribute("server_timing"),
            R"(db;dur=31.500;desc="cart", tpl;dur=12, miss)");
  EXPECT_EQ(requests[0].attribute("protocol"), "http/1.1");
  EXPECT_EQ(requests[0].attribute("status"), "200");
  EXPECT_THAT(tree.calls, Contains(Field(&Call::name, "redirect")));
  auto const ads = std::ranges::find(tree.calls, "https://ads.test/ads.js", &Call::name);
  ASSERT_NE(ads, tree.calls.end());
  EXPECT_EQ((ads + 1)->kind, CallKind::kRequest) << "it has no phases";
  auto const script = std::ranges::find_if(tree.calls, [](const Call& call) {
    return call.attribute("url") == "https://ads.test/ads.js";
  });
  ASSERT_NE(script, tree.calls.end());
  EXPECT_GT(script->end_us - script->start_us, 120'000);
  auto const shares = share_evenly(tree);
  std::int64_t sum = shares.gap_us;
  for (auto const share : shares.calls) sum += share;
  EXPECT_EQ(sum, tree.window_us);
}

TEST(BeaconReader, ReadsABareListOfEntries) {
  auto const tree = read_tree("[" + std::string(kNavigation) + "]");
  EXPECT_EQ(tree.page, "https://a.test/?x");
  EXPECT_FALSE(tree.started_unix_ms);
}

/// The requests by URL and start, without those that Boomerang leaves out: its own beacons.
std::multimap<std::string, std::vector<std::int64_t>> by_url(const CallTree& tree) {
  std::multimap<std::string, std::vector<std::int64_t>> requests;
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    if (tree.calls[i].kind != CallKind::kRequest || tree.calls[i].name.contains("/collect")) {
      continue;
    }
    std::vector<std::int64_t> times = {tree.calls[i].start_us, tree.calls[i].end_us};
    for (auto k = i + 1; k < tree.calls.size() && tree.calls[k].parent == i; ++k) {
      if (tree.calls[k].name != "wait") continue;
      times.push_back(tree.calls[k].start_us);
      times.push_back(tree.calls[k].end_us);
    }
    requests.emplace(tree.calls[i].name, times);
  }
  return requests;
}

TEST(Boomerang, SaysWhatTheBrowserSaid) {
  auto const beacons = lines_of("boomerang.txt");
  auto const entries = lines_of("boomerang_entries.ndjson");
  ASSERT_EQ(entries.size(), 3u);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto const tree = read_tree(beacons.at(i));
    auto const expected = read_tree(entries[i]);
    EXPECT_EQ(tree.page, expected.page);
    EXPECT_NEAR(*tree.started_unix_ms, *expected.started_unix_ms, 1);
    EXPECT_NEAR(static_cast<double>(tree.window_us), static_cast<double>(expected.window_us), 1500);
    auto const sent = by_url(tree), known = by_url(expected);
    ASSERT_GT(sent.size(), 10u);
    // Entries that came after the beacon are in the browser's list alone.
    for (auto const& [url, times] : sent) {
      auto const [first, last] = known.equal_range(url);
      auto const is_near = [&times](auto const& each) {
        return std::ranges::equal(times, each.second,
                                  [](auto a, auto b) { return std::abs(a - b) <= 1'500; });
      };
      EXPECT_TRUE(std::any_of(first, last, is_near)) << url;
    }
    auto const document = std::ranges::find(tree.calls, tree.page, &Call::name);
    auto const known_document = std::ranges::find(expected.calls, tree.page, &Call::name);
    for (auto const* const name : {"server_timing", "protocol", "bytes", "type"}) {
      EXPECT_EQ(document->attribute(name), known_document->attribute(name));
    }
    EXPECT_EQ(tree.tag("network"), "4g");
  }
}

TEST(Boomerang, IsTheSameAsJson) {
  auto const forms = lines_of("boomerang.txt");
  auto const json = lines_of("boomerang.ndjson");
  EXPECT_EQ(shown(read_tree(json.at(0))), shown(read_tree(forms.at(0))));
  EXPECT_EQ(shown(read_tree(json.at(1))), shown(read_tree(forms.at(2))));
}

TEST(Boomerang, HasBeaconsThatAreNotOfAView) {
  BeaconReader reader;
  auto const view = reader.read(lines_of("boomerang.txt").at(3));
  ASSERT_FALSE(view);
  EXPECT_TRUE(view.error().is_other_beacon);
  EXPECT_EQ(beacon_fault("a=b&c=d"), "not a beacon: neither entries nor requests nor restiming");
  EXPECT_EQ(beacon_fault("restiming=%7B&u=x"), "restiming is not a trie in JSON");
}

TEST(Boomerang, ReadsTheNavigationWithoutATrie) {
  auto const tree = read_tree(
      "u=https%3A%2F%2Fa.test%2F&nt_nav_st=1000000&nt_red_st=&nt_dns_st=1000005&nt_dns_end=1000010&"
      "nt_con_st=1000010&nt_con_end=1000020&nt_req_st=1000021&nt_res_st=1000050&"
      "nt_res_end=1000060&nt_load_st=1000200");
  EXPECT_EQ(tree.window_us, 200'000);
  EXPECT_THAT(shown(tree),
              ElementsAre("https://a.test/ 0 60000", "  queued 0 5000", "  dns 5000 10000",
                          "  connect 10000 20000", "  queued 20000 21000", "  wait 21000 50000",
                          "  receive 50000 60000"));
}

TEST(Boomerang, CountsALaterViewFromItsOwnStart) {
  auto const tree =
      read_tree(R"({"http.initiator":"xhr","rt.nstart":1000000,"rt.tstart":1005000,"t_done":300,)"
                R"("u":"https://a.test/","restiming":{"https://a.test/api":"53uw,2s"}})");
  EXPECT_EQ(tree.started_unix_ms, 1005000);
  EXPECT_EQ(tree.window_us, 300'000);
  EXPECT_EQ(tree.tag("initiator"), "xhr");
  EXPECT_THAT(shown(tree), ElementsAre("https://a.test/api 0 100000"));
}

/// The text of such a leaf is not decoded; it lasts as long as the view all the same.
TEST(Boomerang, KeepsALeafWithHalfASurrogatePair) {
  auto const tree =
      read_tree(R"({"u":"p","restiming":{"https://a.test/":"31,2*7a long protocol \ud800"}})");
  ASSERT_THAT(tree.calls, SizeIs(1));
  EXPECT_EQ(tree.calls[0].attribute("protocol"), "a long protocol \\ud800");
}

TEST(Boomerang, TakesTheBodyOfA304AsNotSent) {
  auto const tree =
      read_tree(R"({"u":"p","restiming":{"https://a.test/304":"31,2*1ffk,-f78,ffk",)"
                R"("https://a.test/less":"31,2*1a,-b,-b","https://a.test/cached":"31,2*1ffk,_",)"
                R"("https://a.test/huge":"31,2*1-1,1y2p0ij32e8e7"}})");
  std::vector<std::string> bytes;
  for (Call const& call : requests_of(tree)) {
    bytes.push_back(call.name.substr(15) + " " + std::string(call.attribute("bytes")));
  }
  auto const huge = std::to_string(std::int64_t{1} << 50);
  EXPECT_THAT(bytes, ElementsAre("304 300", "less ", "cached ", "huge " + huge));
}

/// As the script of former versions cut it: JavaScript writes the half that is left as an escape.
TEST(BeaconReader, KeepsATagWithHalfASurrogatePair) {
  auto const tree =
      read_tree(R"({"beacon":1,"page":"p","tags":{"kind":"new \ud83d","country":"DE"},)"
                R"("requests":[["https://a.test/","navigation",0,1205,820]]})");
  EXPECT_THAT(tree.tags, ElementsAre(Pair("country", "DE"), Pair("kind", "new \\ud83d")));
  EXPECT_THAT(tree.calls, SizeIs(1));
  EXPECT_THAT(tree.losses, IsEmpty());
}

TEST(BeaconReader, KeepsKeysWithHalfASurrogatePair) {
  auto const tree = read_tree(
      R"({"beacon":1,"page":"p","tags":{"a \ud83d":"b","c \udc00" : {"d":1},"country":"DE"},)"
      R"("other \ud83d":[1],"requests":[["https://a.test/","navigation",0,1205,820]]})");
  EXPECT_THAT(tree.tags, ElementsAre(Pair("a \\ud83d", "b"), Pair("c \\udc00", R"({"d":1})"),
                                     Pair("country", "DE")));
  EXPECT_THAT(tree.calls, SizeIs(1));
  EXPECT_THAT(tree.losses, IsEmpty());
}

TEST(Boomerang, KeepsUrlsWithHalfASurrogatePair) {
  auto const tree =
      read_tree(R"({"u":"p","restiming":{"https://a.test/\ud83d":{"a":"31,2","\udc00":"31,2"}}})");
  std::vector<std::string> urls;
  for (Call const& call : requests_of(tree)) urls.push_back(call.name);
  EXPECT_THAT(urls,
              UnorderedElementsAre("https://a.test/\\ud83da", "https://a.test/\\ud83d\\udc00"));
  EXPECT_THAT(tree.losses, IsEmpty());
}

TEST(Boomerang, KeepsServerTimingsWithHalfASurrogatePair) {
  auto const tree = read_tree(R"({"u":"p","restiming":{"https://a.test/":"31,2*331.5:0,12:1.0"},)"
                              R"("servertiming":["half\ud83d",["db","cart\ud83d"]]})");
  ASSERT_THAT(requests_of(tree), SizeIs(1));
  EXPECT_EQ(requests_of(tree)[0].attribute("server_timing"),
            R"(half\ud83d;dur=31.500, db;dur=12;desc="cart\\ud83d")");
  EXPECT_THAT(tree.losses, IsEmpty());
}

TEST(BeaconReader, HasRoomForTheTagsOfTheScript) {
  std::string value;
  for (int i = 0; i < 100; ++i) value += "語";
  auto const tree = read_tree(R"({"tags":{"kind":")" + value + R"("},"entries":[]})");
  EXPECT_EQ(tree.tag("kind"), value);
}

TEST(BeaconReader, MendsAndCountsHostileValues) {
  auto const tree = tree_with(
      R"({"name":"https://a.test/","entryType":"resource","startTime":-50,"duration":1e300,)"
      R"("requestStart":1e18,"responseStart":-7,"responseEnd":"soon","transferSize":-9e99},)"
      R"(7,{"name":4,"entryType":"resource","startTime":null,"responseEnd":1e999,"duration":5},)"
      R"({"name":"\ud800","entryType":"mark","startTime":3,"duration":0})");
  ASSERT_THAT(tree.calls, SizeIs(4));
  EXPECT_EQ(tree.calls[0].end_us, CallTree::kWindowUsMax);
  EXPECT_EQ(tree.calls[0].start_us, 0);
  EXPECT_EQ(tree.calls[2].end_us, 5'000);
  EXPECT_EQ(tree.calls[3].name, "\\ud800");
  EXPECT_THAT(tree.losses, Contains(Field(&CallLoss::what, "entries that are not objects")));
  EXPECT_THAT(tree.losses, Contains(Field(&CallLoss::what, HasSubstr("not numbers"))));
  EXPECT_THAT(tree.losses, Contains(Field(&CallLoss::what, HasSubstr("not texts"))));
}

TEST(BeaconReader, KeepsTheFirstTagsOfAMillion) {
  std::string line = R"({"entries":[],"tags":{)";
  for (int i = 0; i < 1'000'000; ++i) line += "\"t" + std::to_string(i) + "\":\"v\",";
  line += R"("last":"v"}})";
  auto const tree = read_tree(line);
  EXPECT_THAT(tree.tags, SizeIs(BeaconView::kTagsMax));
  EXPECT_THAT(tree.losses, ElementsAre(Field(&CallLoss::count, 1'000'001 - 32)));
}

TEST(BeaconReader, KeepsTheFirstOfTooManyEntries) {
  std::string line = R"({"requests":[)";
  for (int i = 0; i < 20'000; ++i) line += R"(["u","img",1,2,3],)";
  line.back() = ']';
  auto const tree = read_tree(line + "}");
  EXPECT_THAT(tree.calls, SizeIs(10'000));
  EXPECT_THAT(tree.losses, ElementsAre(Field(&CallLoss::count, 10'000)));
}

TEST(BeaconReader, SaysWhatIsWrongWithALine) {
  EXPECT_THAT(beacon_fault("{"), StartsWith("not JSON: "));
  EXPECT_THAT(beacon_fault(R"({"entries":[{"name":"a}]})"), StartsWith("not JSON: "));
  EXPECT_THAT(beacon_fault(R"({"entries":[]}})"), StartsWith("not JSON: "));
  EXPECT_THAT(beacon_fault(R"({"entries":[],})"), StartsWith("not JSON: "));
  EXPECT_THAT(beacon_fault("{\"entries\":[],\"page\":\"\xff\"}"), StartsWith("not JSON: "));
  EXPECT_THAT(beacon_fault(R"({"entries":4})"), StartsWith("not JSON: "));
  EXPECT_EQ(beacon_fault(R"({"page":"p"})"),
            "not a beacon: neither entries nor requests nor restiming");
  EXPECT_EQ(beacon_fault(" \r"), "the line is empty");
  EXPECT_EQ(beacon_fault(std::string(BeaconReader::kLineBytesMax + 1, 'x')),
            "the line is longer than 16 MiB");
}

/// Every beginning of each line of the data either is a view or is refused.
TEST(BeaconReader, RefusesTruncatedLines) {
  std::size_t refused = 0;
  BeaconReader reader;
  for (auto const* const file : {"entries.ndjson", "boomerang.ndjson"}) {
    auto const line = lines_of(file).at(0);
    for (std::size_t size = 1; size < line.size(); ++size) {
      if (!reader.read(line.substr(0, size))) ++refused;
    }
    refused -= line.size() - 1;
  }
  EXPECT_EQ(refused, 0u);
}

class Fed {
 public:
  /// Feeds `text` in pieces of `size` bytes.
  Fed(std::string_view text, std::size_t size)
      : lines([this](const BeaconView& view, std::uint64_t line) {
          seen.emplace_back(std::string(view.page), line);
        }) {
    while (!text.empty()) {
      auto const space = lines.space();
      auto const piece = std::min({size, space.size(), text.size()});
      std::ranges::copy(text.substr(0, piece), space.begin());
      lines.written(piece);
      text.remove_prefix(piece);
    }
    lines.finish();
  }

  std::vector<std::pair<std::string, std::uint64_t>> seen;
  BeaconLines lines;
};

TEST(BeaconLines, AreTheSameInPiecesOfAnySize) {
  constexpr std::string_view kText =
      "{\"page\":\"a\",\"entries\":[]}\n\n{\"page\":\"b\",\"entr\n"
      "{\"page\":\"c\",\"entries\":[]}\r\nx\nrt.quit=&rt.end=1\n{\"page\":\"d\",\"requests\":[]}";
  for (std::size_t const size : {1u, 2u, 7u, 64u, 10'000u}) {
    Fed const fed(kText, size);
    EXPECT_THAT(fed.seen, ElementsAre(Pair("a", 1), Pair("c", 4), Pair("d", 7)));
    auto const& counts = fed.lines.counts();
    EXPECT_EQ(counts.lines, 6u);
    EXPECT_EQ(counts.views, 3u);
    EXPECT_EQ(counts.other_beacons, 1u);
    EXPECT_EQ(counts.bad_lines, 2u);
    EXPECT_EQ(counts.first_bad_line, 3u);
    EXPECT_THAT(counts.first_bad_why, StartsWith("not JSON: "));
  }
}

TEST(BeaconLines, PassOverALineWithoutEnd) {
  std::string text(BeaconReader::kLineBytesMax + 70'000'000, 'x');
  text += "\n{\"page\":\"a\",\"entries\":[]}\n";
  Fed fed(text, 1 << 20);
  EXPECT_THAT(fed.seen, ElementsAre(Pair("a", 2)));
  EXPECT_EQ(fed.lines.counts().bad_lines, 1u);
  EXPECT_LE(fed.lines.space().size(), 4 * BeaconReader::kLineBytesMax);
}

TEST(BeaconLines, ReadLongLinesWhole) {
  std::string text = R"({"page":"a","entries":[],"x":")" + std::string(5'000'000, 'y') + "\"}\n";
  Fed const fed(text + text, 4096);
  EXPECT_THAT(fed.seen, ElementsAre(Pair("a", 1), Pair("a", 2)));
}

TEST(BeaconScript, IsTheMinifiedFile) {
  std::ifstream file(BEACON_SCRIPT);
  EXPECT_EQ(beacon_script(), std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_THAT(beacon_script(), HasSubstr("sendBeacon"));
}

}  // namespace
}  // namespace reprise
