#include "analysis/sources/har_calls.h"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <map>

#include "pageload/results/har.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

std::expected<std::vector<CallTree>, std::string> read(std::string_view text) {
  importing::MemoryInput input(text);
  importing::InputSource source(input, 0, text.size(), nullptr);
  importing::ByteReader reader(source);
  return read_har_calls(reader);
}

constexpr std::string_view kHar = R"({"log":{
  "pages":[{"id":"page_1","title":"https://shop.test/","startedDateTime":"2026-11-22T10:00:00.000Z",
            "pageTimings":{"onContentLoad":200,"onLoad":400.25}}],
  "entries":[
   {"pageref":"page_1","startedDateTime":"2026-11-22T10:00:00.010Z","time":190,
    "request":{"method":"GET","url":"https://shop.test/","headers":[
      {"name":"Traceparent","value":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}]},
    "response":{"status":200,"httpVersion":"h2","headers":[{"name":"x-cache","value":"HIT"}],
      "content":{"size":9,"mimeType":"text/html; charset=utf-8","text":"<p>skipped"},
      "_transferSize":512},
    "timings":{"blocked":10,"dns":20,"connect":60,"ssl":30,"send":0,"wait":80,"receive":20},
    "_resourceType":"document","_initiator":{"type":"other"}},
   {"pageref":"page_1","startedDateTime":"2026-11-22T10:00:00.210Z","time":100,
    "request":{"method":"GET","url":"https://shop.test/a.js"},
    "response":{"status":200},
    "timings":{"blocked":-1,"dns":-1,"connect":-1,"send":-1,"wait":-1,"receive":-1},
    "_resourceType":"xhr",
    "_initiator":{"type":"script","stack":{"callFrames":[{"url":"https://shop.test/x.js"}]}}},
   {"pageref":"page_1","request":{"url":"https://shop.test/timeless"}}]}})";

TEST(HarCalls, AreTheEntriesOfAPageUpToItsLoadEvent) {
  auto const trees = read(kHar);
  ASSERT_TRUE(trees) << trees.error();
  ASSERT_EQ(trees->size(), 1u);
  CallTree const& tree = trees->front();
  EXPECT_EQ(tree.page, "https://shop.test/");
  EXPECT_EQ(tree.window_us, 400'250);
  std::vector<std::string> names;
  for (Call const& call : tree.calls) {
    names.push_back(call.name + " " + std::to_string(call.start_us / 1000) + "-" +
                    std::to_string(call.end_us / 1000));
  }
  EXPECT_THAT(names, ElementsAre("https://shop.test/ 10-200", "queued 10-20", "dns 20-40",
                                 "connect 40-70", "tls 70-100", "wait 100-180", "receive 180-200",
                                 "https://shop.test/a.js 210-310"));
  Call const& document = tree.calls[0];
  EXPECT_EQ(document.attribute("cdn"), "hit");
  EXPECT_EQ(document.attribute("mime"), "text/html");
  EXPECT_EQ(document.attribute("type"), "Document");
  EXPECT_EQ(document.attribute("bytes"), "512");
  EXPECT_EQ(document.attribute("traceparent"),
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  Call const& script = tree.calls[7];
  EXPECT_EQ(script.attribute("type"), "XHR");
  EXPECT_EQ(script.attribute("initiator"), "https://shop.test/x.js");
  EXPECT_THAT(tree.losses,
              ElementsAre(Field(&CallLoss::what, "entries without URL or time, skipped")));
}

TEST(HarCalls, WithoutPagesAreOneTreeToTheLastEntry) {
  auto const trees = read(R"({"log":{"entries":[
    {"startedDateTime":"2026-11-22T10:00:00Z","request":{"url":"http://a.test/"},"time":50,
     "timings":{"send":0,"wait":30,"receive":20}}]}})");
  ASSERT_TRUE(trees) << trees.error();
  EXPECT_EQ(trees->front().page, "http://a.test/");
  EXPECT_EQ(trees->front().window_us, 50'000);
}

/// An entry of that URL, and with that response.
std::string har_entry(const std::string& url, const std::string& response) {
  return R"({"startedDateTime":"2026-11-22T10:00:00Z","time":50,"request":{"url":")" + url +
         R"("},"response":)" + response + R"(,"timings":{"send":0,"wait":30,"receive":20}})";
}

TEST(HarCalls, HaveTheAlpnIdOfTheirProtocol) {
  std::string entries;
  for (std::string const word : {"HTTP/1.1", "http/1.0", "http/2.0", "HTTP/2", "h2", "HTTP/3",
                                 "h3-29", "http/2+quic/46", "SPDY/3.1"}) {
    if (!entries.empty()) entries += ",";
    entries += har_entry("http://a.test/" + word, R"({"httpVersion":")" + word + "\"}");
  }
  auto const trees = read(R"({"log":{"entries":[)" + entries + "]}}");
  ASSERT_TRUE(trees) << trees.error();
  std::map<std::string, std::string> protocols;
  for (Call const& call : trees->front().calls) {
    if (call.parent != kNoParent) continue;
    protocols[call.name.substr(std::string_view("http://a.test/").size())] =
        call.attribute("protocol");
  }
  std::map<std::string, std::string> const expected = {{"HTTP/1.1", "http/1.1"},
                                                       {"http/1.0", "http/1.0"},
                                                       {"http/2.0", "h2"},
                                                       {"HTTP/2", "h2"},
                                                       {"h2", "h2"},
                                                       {"HTTP/3", "h3"},
                                                       {"h3-29", "h3"},
                                                       {"http/2+quic/46", "h3"},
                                                       {"SPDY/3.1", "SPDY/3.1"}};
  EXPECT_EQ(protocols, expected);
}

TEST(HarCalls, AreReadBesideATextThatIsTooLong) {
  std::string const megabyte(1 << 20, 'A');
  auto const trees =
      read(R"({"log":{"entries":[)" + har_entry("data:image/png;base64," + megabyte, "{}") + "," +
           har_entry("http://a.test/?" + megabyte, "{}") + "," +
           har_entry("http://a.test/", R"({"headers":[{"name":"x","value":")" + megabyte +
                                           R"(b"},{"name":"x-cache",)" + R"("value":"HIT"}]})") +
           "]}}");
  ASSERT_TRUE(trees) << trees.error();
  std::vector<Call> requests;
  for (Call const& call : trees->front().calls) {
    if (call.parent == kNoParent) requests.push_back(call);
  }
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].name.size(), megabyte.size()) << "cut";
  EXPECT_EQ(requests[1].attribute("cdn"), "hit");
  std::map<std::string, std::uint64_t> losses;
  for (CallLoss const& loss : trees->front().losses) losses[loss.what] = loss.count;
  EXPECT_EQ(losses["entries without URL or time, skipped"], 1U);
  EXPECT_EQ(losses["entries with a text above 1 MiB, cut"], 2U);
}

TEST(HarCalls, HaveWhatTheResponseSaysAboutItsServer) {
  auto const trees = read(R"({"log":{"entries":[
    {"startedDateTime":"2026-11-22T10:00:00Z","request":{"url":"http://a.test/"},"time":50,
     "response":{"headers":[{"name":"server-timing","value":"db;dur=10"}]},
     "timings":{"send":0,"wait":30,"receive":20}}]}})");
  ASSERT_TRUE(trees) << trees.error();
  Call const& query = trees->front().calls.back();
  EXPECT_EQ(query.name, "db");
  EXPECT_EQ(query.start_us, 10'000);
  EXPECT_EQ(query.end_us, 20'000);
  EXPECT_EQ(trees->front().calls[query.parent].name, "wait");
}

TEST(HarCalls, OfALoadAreItsRequests) {
  PageLoad load{.url = "https://a.test/", .started_unix_ms = 1.7e12};
  for (auto const* const type : {"Document", "XHR", "Fetch", "WebSocket", "EventSource",
                                 "TextTrack", "SignedExchange", "CSPViolationReport"}) {
    load.requests.push_back({.url = "https://a.test/", .resource_type = type});
  }
  load.requests[1].initiator = "https://a.test/x.js";
  load.requests[1].from_cache = true;
  auto const trees = read(boost::json::serialize(har_of(load, {.name = "chromium"})));
  ASSERT_TRUE(trees) << trees.error();
  std::vector<Call> requests;
  for (Call const& call : trees->front().calls) {
    if (call.parent == kNoParent) requests.push_back(call);
  }
  ASSERT_EQ(requests.size(), load.requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].attribute("type"), load.requests[i].resource_type);
    EXPECT_EQ(requests[i].attribute("initiator"), load.requests[i].initiator);
    EXPECT_EQ(requests[i].attribute("cached"), load.requests[i].from_cache ? "yes" : "");
  }
}

TEST(HarCalls, SayWhatIsWrong) {
  EXPECT_THAT(read(R"({"log":{"entries":[{]}})").error(), HasSubstr("not JSON at byte"));
  EXPECT_EQ(read(R"({"log":{"entries":[]}})").error(), "it has no entries with a time");
  EXPECT_EQ(read(R"({"log":{"entries":7,"pages":"x"}})").error(), "it has no entries with a time");
}

TEST(HarCalls, AreOfACacheIfTheHarNamesIt) {
  for (auto const& [from, cached] :
       {std::pair{"false", ""}, {"null", ""}, {"\"disk\"", "yes"}, {"true", "yes"}}) {
    auto const trees =
        read(R"({"log":{"entries":[{"startedDateTime":"2026-11-22T10:00:00.010Z","time":190,)"
             R"("request":{"method":"GET","url":"https://shop.test/"},"_fromCache":)" +
             std::string(from) + "}]}}");
    ASSERT_TRUE(trees) << trees.error();
    EXPECT_EQ(trees->at(0).calls.at(0).attribute("cached"), cached) << from;
  }
}

}  // namespace
}  // namespace reprise
