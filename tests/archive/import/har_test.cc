#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

using testing::HasSubstr;

/// A HAR of one entry with that response, and more members of the entry.
std::string har(const std::string& response, const std::string& more = "",
                const std::string& version = "HTTP/1.1") {
  return R"({"log":{"version":"1.2","creator":{"name":"Test","version":"1"},)"
         R"("pages":[{"startedDateTime":"2020-01-01T00:00:00.000Z","title":"https://a.test/"}],)"
         R"("entries":[{"startedDateTime":"2020-01-01T00:00:01.500Z","time":10,)"
         R"("request":{"method":"GET","url":"https://a.test/x?y=1#z","httpVersion":")" +
         version + R"(","headers":[{"name":":method","value":"GET"},{"name":"A","value":"1"}]},)" +
         R"("response":)" + response + more + "}]}}";
}

std::string response(const std::string& content, const std::string& fields = "") {
  return R"({"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[)" + fields +
         R"(],"content":)" + content + "}";
}

class ImportHar : public ImportTest {};

TEST_F(ImportHar, KeepsTheEntryWithItsTimesAndAddress) {
  ASSERT_EQ(import(har(response(R"({"size":2,"text":"hi"})"),
                       R"(,"serverIPAddress":"[2001:db8::1]","connection":"7",)"
                       R"("timings":{"blocked":-1,"send":1,"wait":2.5,"receive":4})")),
            "");
  auto const& exchange = sink.exchanges.at(0);
  EXPECT_EQ(url(0), "https://a.test/x?y=1");
  EXPECT_EQ(exchange.request.headers.size(), 1U) << "pseudo-headers are none";
  EXPECT_EQ(body(0), "hi");
  EXPECT_EQ(exchange.timings.queued, std::chrono::milliseconds(1500));
  EXPECT_EQ(exchange.timings.first_byte, std::chrono::microseconds(1'503'500));
  EXPECT_EQ(exchange.timings.end, std::chrono::microseconds(1'507'500));
  EXPECT_EQ(sink.connections.at(0).address, "[2001:db8::1]:443");
  EXPECT_EQ(exchange.origin_connection_id, sink.connections[0].id);
  EXPECT_EQ(sink.sessions.at(0).pages, std::vector<std::string>{"https://a.test/"});
}

TEST_F(ImportHar, KeepsWhenTheConnectionWasMade) {
  using std::chrono::milliseconds;
  struct Case {
    std::string timings;
    SessionTime dns_start, connect_start, tls_start, ready;
  };
  for (const Case& each : {
           Case{R"("blocked":5,"dns":10,"connect":60,"ssl":40,"send":1)", milliseconds(1505),
                milliseconds(1515), milliseconds(1535), milliseconds(1575)},
           Case{R"("dns":0,"connect":20,"ssl":45)", milliseconds(1500), milliseconds(1500), kNoTime,
                milliseconds(1520)},  // beside it, as some tools count
           Case{R"("dns":0,"connect":1e30,"ssl":1e29)", milliseconds(1500), milliseconds(1500),
                kNoTime, std::chrono::seconds(1'000'001) + milliseconds(500)},
           Case{R"("dns":"nan","connect":"inf")", kNoTime, kNoTime, kNoTime, kNoTime},
           Case{R"("dns":0,"connect":20,"ssl":-1)", milliseconds(1500), milliseconds(1500), kNoTime,
                milliseconds(1520)},
           Case{R"("dns":-1,"connect":-1,"ssl":-1)", kNoTime, kNoTime, kNoTime, kNoTime},
           Case{R"("dns":0,"connect":0,"ssl":0)", kNoTime, kNoTime, kNoTime, kNoTime},
           Case{R"("dns":-1,"connect":20)", kNoTime, kNoTime, kNoTime, kNoTime},
       }) {
    ASSERT_EQ(import(har(response(R"({"size":2,"text":"hi"})"),
                         R"(,"serverIPAddress":"192.0.2.1","timings":{)" + each.timings + "}")),
              "");
    auto const& facts = sink.connections.at(0);
    EXPECT_EQ(facts.dns_start, each.dns_start) << each.timings;
    EXPECT_EQ(facts.connect_start, each.connect_start) << each.timings;
    EXPECT_EQ(facts.tls_start, each.tls_start) << each.timings;
    EXPECT_EQ(facts.ready, each.ready) << each.timings;
  }
}

TEST_F(ImportHar, KnowsAConnectionAlsoByALaterExchange) {
  auto const entry = [](const std::string& more) {
    return har(response(R"({"size":2,"text":"hi"})"), R"(,"serverIPAddress":"192.0.2.1",)" + more);
  };
  auto const reused = entry(R"("timings":{"dns":0,"connect":0})");
  auto const made = entry(R"("timings":{"dns":0,"connect":20})");
  auto const later = made.substr(made.find(R"({"startedDateTime":"2020-01-01T00:00:01.500Z")"));
  ASSERT_EQ(import(reused.substr(0, reused.size() - 3) + "," + later), "");
  ASSERT_EQ(sink.connections.size(), 2U);
  EXPECT_EQ(sink.connections[0].connect_start, kNoTime);
  EXPECT_EQ(sink.connections[1].connect_start, std::chrono::milliseconds(1500));
  EXPECT_EQ(sink.exchanges.at(1).origin_connection_id, sink.connections[1].id);
}

TEST_F(ImportHar, LeavesOutTheCodingOfADecodedBodyAndCorrectsTheLength) {
  ASSERT_EQ(import(har(response(R"({"size":2,"text":"hi"})",
                                R"({"name":"content-encoding","value":"gzip"},)"
                                R"({"name":"content-length","value":"22"})"))),
            "");
  EXPECT_EQ(fields(0), "content-length: 2\n");
  EXPECT_EQ(report.codings_dropped, 1U);
  EXPECT_EQ(report.lengths_corrected, 1U);
}

TEST_F(ImportHar, CorrectsALengthThatIsNoneOrStandsTwice) {
  std::string const chunked = R"({"name":"transfer-encoding","value":"chunked"},)";
  for (const std::string& fields_text :
       {std::string(R"({"name":"content-length","value":"-1"})"),
        chunked + R"({"name":"content-length","value":"-1"})",
        std::string(R"({"name":"content-length","value":"42, 42"})"),
        std::string(
            R"({"name":"content-length","value":"2"},{"name":"Content-Length","value":"3"})")}) {
    SCOPED_TRACE(fields_text);
    ASSERT_EQ(import(har(response(R"({"size":2,"text":"hi"})", fields_text))), "");
    EXPECT_THAT(fields(0), testing::EndsWith("content-length: 2\n"));
    EXPECT_EQ(report.lengths_corrected, 1U);
  }
}

TEST_F(ImportHar, KnowsADecodedBodyThatStandsBeforeItsHead) {
  ASSERT_EQ(import(har(R"({"status":200,"content":{"size":2,"text":"hi"},"headers":[)"
                       R"({"name":"content-encoding","value":"gzip"}]})")),
            "");
  EXPECT_EQ(fields(0), "");
  EXPECT_EQ(body(0), "hi");
}

TEST_F(ImportHar, KeepsWhatOurOwnExportSaysBesides) {
  ASSERT_EQ(import(R"({"log":{"version":"1.2","_started":"2020-01-01T00:00:00.000000001Z",)"
                   R"("entries":[{"startedDateTime":"2020-01-01T00:00:00.000000003Z",)"
                   R"("request":{"method":"GET","url":"http://a.test/"},"response":{"status":200,)"
                   R"("content":{"size":2,"text":"hi"},"_error":"it broke",)"
                   R"("_outcome":"cut by origin"},"timings":{"send":0.000001,"wait":1.123457,)"
                   R"("receive":-1}}]}})"),
            "");
  auto const& exchange = sink.exchanges.at(0);
  EXPECT_EQ(exchange.outcome, Outcome::kCutByOrigin);
  EXPECT_EQ(exchange.failure, "it broke");
  EXPECT_EQ(exchange.timings.queued.count(), 2);
  EXPECT_EQ(exchange.timings.request_sent.count(), 3);
  EXPECT_EQ(exchange.timings.first_byte.count(), 1'123'460);
  EXPECT_EQ(exchange.timings.end, kNoTime);
}

TEST_F(ImportHar, KeepsTheCodingOfABodyThatIsCoded) {
  auto const coded = gzip("hello");
  ASSERT_EQ(
      import(har(response(R"({"size":5,"text":")" + base64(coded) + R"(","encoding":"base64"})",
                          R"({"name":"Content-Encoding","value":"gzip"})"))),
      "");
  EXPECT_EQ(body(0), coded);
  EXPECT_EQ(fields(0), "Content-Encoding: gzip\n");
}

TEST_F(ImportHar, KnowsABodyCodedWithADictionaryByItsBeginning) {
  for (auto const& [coding, magic] :
       {std::pair("dcb", std::string("\xff\x44\x43\x42", 4)),
        std::pair("dcz", std::string("\x5e\x2a\x4d\x18\x20\x00\x00\x00", 8))}) {
    auto const field = R"({"name":"Content-Encoding","value":")" + std::string(coding) + R"("})";
    auto const coded = magic + std::string(32, 'h') + "rest";
    auto const text = R"("text":")" + base64(coded) + R"(","encoding":"base64")";
    ASSERT_EQ(import(har(response("{" + text + "}", field))), "");
    EXPECT_EQ(fields(0), "Content-Encoding: " + std::string(coding) + "\n");
    ASSERT_EQ(import(har(response(R"({"size":2,"text":"hi"})", field))), "");
    EXPECT_EQ(fields(0), "");
  }
}

TEST_F(ImportHar, ReadsAByteOrderMarkAndEveryEscape) {
  ASSERT_EQ(import("\xef\xbb\xbf" +
                   har(response(
                       R"({"size":9,"text":"\"\\\/\b\f\n\r\tA\u00e9\u20ac\ud83d\ude00\ud83d"})"))),
            "");
  EXPECT_EQ(body(0), "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd");
}

TEST_F(ImportHar, CountsABodyThatIsNotThereAsIncomplete) {
  ASSERT_EQ(import(har(response(R"({"size":100,"mimeType":"text/html"})"))), "");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kCutByClient);
  EXPECT_EQ(report.incomplete, 1U);
}

TEST_F(ImportHar, TakesAMissingBodyOfSizeZeroForAnEmptyOne) {
  ASSERT_EQ(import(har(response(R"({"size":0,"mimeType":"text/html"})"))), "");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kComplete);
}

TEST_F(ImportHar, TakesAResponseThatBrokeOffAfterItsHeadForACutOne) {
  auto const broken = [](const std::string& error, const std::string& length) {
    return R"({"status":200,"headers":[{"name":"content-length","value":")" + length +
           R"("}],"content":{"size":0},"bodySize":-1,"_error":")" + error + R"("})";
  };
  ASSERT_EQ(import(har(broken("net::ERR_CONNECTION_RESET", "5000"))), "");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kCutByOrigin);
  EXPECT_EQ(sink.exchanges[0].failure, "net::ERR_CONNECTION_RESET");
  EXPECT_EQ(fields(0), "content-length: 5000\n");
  ASSERT_EQ(import(har(broken("net::ERR_ABORTED", "5000"))), "");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kCutByClient);
  // Chrome says that also of beacons whose page has gone.
  ASSERT_EQ(import(har(broken("net::ERR_ABORTED", "0"))), "");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kComplete);
}

TEST_F(ImportHar, CountsABodyOfWhichNothingIsSaidAsIncomplete) {
  ASSERT_EQ(import(har(R"({"status":200,"headers":[],"bodySize":-1,"content":{"size":-1}})")), "");
  EXPECT_EQ(report.incomplete, 1U);
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("contains no response bodies")));
  ASSERT_EQ(import(har(R"({"status":302,"headers":[],"bodySize":-1,"content":{"size":-1}})")), "");
  EXPECT_EQ(report.incomplete, 0U) << "a redirection needs none";
}

TEST_F(ImportHar, TakesAResponseWithoutStatusButWithAHeadForOneFromTheCache) {
  auto const cached =
      R"({"status":0,"statusText":"","headers":[{"name":"content-type","value":"text/css"}],)"
      R"("content":{"size":2,"text":"hi"})";
  ASSERT_EQ(import(har(std::string(cached) + "}")), "");
  EXPECT_EQ(sink.exchanges.at(0).response.status, 200);
  EXPECT_EQ(sink.exchanges[0].outcome, Outcome::kComplete);
  EXPECT_EQ(body(0), "hi");
  EXPECT_EQ(report.statuses_assumed, 1U);
  ASSERT_EQ(import(har(std::string(cached) + R"(,"_error":"net::ERR_ABORTED"})")), "");
  EXPECT_EQ(report.failed, 1U);
}

TEST_F(ImportHar, ReadsJsonp) {
  auto const plain = har(response(R"({"size":2,"text":"hi"})"));
  for (auto const& text : {"onInputData(" + plain + ");", " a.b_1 (\n" + plain + "\n)\n"}) {
    ASSERT_EQ(import(text), "");
    EXPECT_EQ(body(0), "hi");
  }
  EXPECT_THAT(import("onInputData(" + plain), HasSubstr("the JSON text ends too early"));
  EXPECT_THAT(import("onInputData(" + plain + "); more"), HasSubstr("data follows the end"));
}

TEST_F(ImportHar, NamesAnEntryWithoutAUrl) {
  auto text = har(response(R"({"size":2,"text":"hi"})"));
  text.replace(text.find("\"url\""), 5, "\"urk\"");
  EXPECT_THAT(import(text), HasSubstr("entry 1 before byte"));
}

TEST_F(ImportHar, LeavesOutTheBodyThatABrowserShowsWithA304) {
  ASSERT_EQ(import(har(R"({"status":304,"headers":[],"content":{"size":2,"text":"hi"}})")), "");
  EXPECT_EQ(sink.exchanges.at(0).response.body.size_bytes, 0U);
  EXPECT_EQ(sink.exchanges[0].outcome, Outcome::kComplete);
  EXPECT_EQ(report.bodies_dropped, 1U);
}

TEST_F(ImportHar, ReadsAnAttachmentAndSaysWhenItIsMissing) {
  attachments.emplace("a.bin", MemoryInput("attached"));
  ASSERT_EQ(import(har(response(R"({"size":8,"_file":"a.bin"})"))), "");
  EXPECT_EQ(body(0), "attached");
  ASSERT_EQ(import(har(response(R"({"size":8,"_file":"../a.bin"})"))), "");
  EXPECT_EQ(report.incomplete, 1U);
  EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("../a.bin")));
}

TEST_F(ImportHar, SplitsValuesThatWereJoinedByLineEnds) {
  ASSERT_EQ(import(har(response(R"({"size":0})", R"({"name":"Set-Cookie","value":"a=1\nb=2"})"))),
            "");
  EXPECT_EQ(fields(0), "Set-Cookie: a=1\nSet-Cookie: b=2\n");
}

TEST_F(ImportHar, KnowsVersionsByAllTheirNames) {
  for (auto const& [label, version] :
       {std::pair("h2", HttpVersion::kH2), std::pair("http/2.0", HttpVersion::kH2),
        std::pair("HTTP/2", HttpVersion::kH2), std::pair("h3", HttpVersion::kH3),
        std::pair("http/2+quic/39", HttpVersion::kH3), std::pair("spdy", HttpVersion::kUnknown),
        std::pair("unknown", HttpVersion::kUnknown), std::pair("", HttpVersion::kUnknown)}) {
    auto text = har(R"({"status":204,"headers":[],"content":{}})", "", label);
    ASSERT_EQ(import(text), "") << label;
    EXPECT_EQ(sink.exchanges.at(0).response.version, version) << label;
  }
  EXPECT_EQ(report.unknown_version, 1U) << "of the last one";
}

TEST_F(ImportHar, TakesStatusZeroForAFailure) {
  ASSERT_EQ(import(har(R"({"status":0,"headers":[],"content":{},"_error":"net::ERR_FAILED"})")),
            "");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kOriginFailed);
  EXPECT_EQ(sink.exchanges[0].failure, "net::ERR_FAILED");
}

TEST_F(ImportHar, TakesAnInterimResponseAloneForAFailure) {
  for (auto const* const status : {"100", "103", "199"}) {
    auto const text = R"({"status":)" + std::string(status) +
                      R"(,"statusText":"Hints","headers":[{"name":"Link","value":"</a>"}],)"
                      R"("content":{"size":2,"text":"hi"}})";
    ASSERT_EQ(import(har(text)), "");
    auto const& exchange = sink.exchanges.at(0);
    EXPECT_EQ(exchange.outcome, Outcome::kOriginFailed) << status;
    EXPECT_EQ(exchange.response.status, 0) << status;
    EXPECT_THAT(exchange.failure, HasSubstr(status));
    EXPECT_EQ(fields(0), "");
    EXPECT_EQ(body(0), "");
    ASSERT_EQ(exchange.interim.size(), 1U);
    EXPECT_EQ(exchange.interim[0].reason, "Hints");
    EXPECT_EQ(exchange.interim[0].headers.size(), 1U);
    EXPECT_EQ(report.failed, 1U);
    EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("only an interim response")));
  }
}

TEST_F(ImportHar, TakesWebSocketMessages) {
  auto text = har(R"({"status":101,"headers":[],"content":{}})",
                  R"(,"_webSocketMessages":[
                     {"type":"send","time":1e9,"opcode":1,"data":"hello \u00e9"},
                     {"type":"receive","time":1000000000.5,"opcode":2,"data":"AAEC"},
                     {"type":"receive","time":1000000001,"opcode":8,"data":"A+g="},
                     {"type":"receive","opcode":2,"data":"no, base64"}])");
  text.replace(text.find("https://a.test/x"), 5, "wss");
  ASSERT_EQ(import(text), "");
  auto const& request = sink.exchanges.at(0).request;
  EXPECT_EQ(request.method, "CONNECT");
  EXPECT_EQ(request.scheme, Scheme::kHttps);
  EXPECT_TRUE(opens_web_socket(sink.exchanges[0]));
  EXPECT_EQ(sink.exchanges[0].outcome, Outcome::kComplete);
  EXPECT_THAT(sink.messages, testing::ElementsAre("client text hello \u00e9",
                                                  std::string("origin binary \0\1\2", 17),
                                                  "origin close \x03\xe8"));
  EXPECT_EQ(sink.message_times.at(1) - sink.message_times[0], std::chrono::milliseconds(500));
  EXPECT_EQ(report.messages, 3U);
  EXPECT_EQ(report.websocket_messages, 1U);
}

TEST_F(ImportHar, LeavesOutWebSocketMessagesThatSayNothingAndUrlsOfOtherSchemes) {
  auto text = har(R"({"status":101,"headers":[],"content":{}})",
                  R"(,"_webSocketMessages":[{"type":"send"},{"type":"receive"}])");
  ASSERT_EQ(import(text), "");
  EXPECT_EQ(report.websocket_messages, 2U);
  EXPECT_NE(sink.exchanges.at(0).outcome, Outcome::kComplete) << "nothing may serve it";
  text.replace(text.find("https://a.test/x"), 16, "data:text/plain,");
  ASSERT_EQ(import(text), "");
  EXPECT_EQ(report.not_http, 1U);
}

TEST_F(ImportHar, HoldsOnlyAPartOfALongBody) {
  std::string const long_text(20 << 20, 'A');
  ASSERT_EQ(
      import(har(response(R"({"size":1,"text":")" + long_text + R"(","encoding":"base64"})"))), "");
  EXPECT_EQ(body(0).size(), long_text.size() / 4 * 3);
  ASSERT_EQ(import(har(response(R"({"size":1,"text":")" + long_text + R"( ? "})"))), "");
  EXPECT_EQ(report.incomplete, 1U) << "it looked like base64 for too long, and was none";
}

TEST_F(ImportHar, SkipsTextsThatAreTooLong) {
  std::string const longer((1 << 20) + 1, 'A');
  auto const field = [](const std::string& name, const std::string& value) {
    return R"({"name":")" + name + R"(","value":")" + value + R"("})";
  };
  auto text =
      har(R"({"status":200,"statusText":")" + longer + R"(","headers":[)" + field("Long", longer) +
              "," + field(longer, "1") + "," + field("Short", "1") +
              R"(],"content":{"size":2,"text":"hi"}})",
          R"(,"connection":")" + longer + R"(","serverIPAddress":")" + longer + R"(","time":")" +
              longer + R"(","_webSocketMessages":[{"type":")" + longer + R"(","data":""}])");
  std::string const title = R"("title":"https://a.test/)";
  text.insert(text.find(title) + title.size(), longer);
  ASSERT_EQ(import(text), "");
  EXPECT_EQ(fields(0), "Short: 1\n");
  EXPECT_EQ(body(0), "hi");
  EXPECT_EQ(sink.exchanges.at(0).response.reason, "");
  EXPECT_THAT(sink.sessions.at(0).pages, testing::IsEmpty());
  EXPECT_EQ(report.websocket_messages, 1U);
  EXPECT_THAT(report.remarks,
              testing::UnorderedElementsAre(HasSubstr("some of their fields are skipped"),
                                            HasSubstr("some texts are longer than 1 MiB")));
}

TEST_F(ImportHar, SkipsAnEntryWhoseUrlIsTooLong) {
  std::string const longer((1 << 20) + 1, 'A');
  auto const whole = har(response(R"({"size":2,"text":"hi"})"));
  std::string const end = "]}}";
  auto const at = whole.find(R"({"startedDateTime":"2020-01-01T00:00:01.500Z")");
  auto const entry = whole.substr(at, whole.size() - at - end.size());
  std::string const url = "https://a.test/x?y=1#z";
  for (auto const& [start, count] : {std::pair("data:image/png;base64,", &ImportReport::not_http),
                                     std::pair("https://a.test/", &ImportReport::too_large)}) {
    auto text = whole.substr(0, whole.size() - end.size()) + "," + entry + end;
    text.replace(text.find(url), url.size(), start + longer);
    ASSERT_EQ(import(text), "") << start;
    EXPECT_EQ(sink.exchanges.size(), 1U);
    EXPECT_EQ(report.*count, 1U);
    EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr(start)));
  }
}

/// A HAR of more than 1 MiB whose tool and pages are after its entries, so it is read twice.
std::string late_har() {
  std::string const entry =
      R"({"request":{"method":"GET","url":"https://a.test/"},"response":)" +
      response(R"({"size":400000,"text":")" + std::string(400'000, 'x') + "\"}") + "}";
  return R"({"log":{"entries":[)" + entry + "," + entry + "," + entry +
         R"(],"pages":[],"creator":{"name":"Test","version":"1"}}})";
}

TEST_F(ImportHar, ReportsProgressInBothPassesAndItsSizeInAll) {
  auto const plain = late_har();
  for (auto const& recording : {plain, gzip(plain), zip({{"a.har", plain}})}) {
    sink = {};
    Importer importer(sink, false);
    MemoryInput input(recording);
    std::uint64_t done = 0;
    std::uint64_t before_exchanges = 0;
    EXPECT_FALSE(importer.read(
        input, [](const std::string&) { return nullptr; },
        [&](std::uint64_t bytes) {
          done += bytes;
          if (sink.exchanges.empty()) before_exchanges = done;
        }));
    EXPECT_EQ(sink.exchanges.size(), 3U);
    EXPECT_GE(before_exchanges, plain.size() == recording.size() ? plain.size() / 2 : 1);
    EXPECT_LE(done, recording.size());
    EXPECT_GE(done + 200, recording.size());  // a zip has a table, too
  }
}

TEST_F(ImportHar, StopsInItsFirstPass) {
  auto const recording = late_har();
  for (auto const& each : {recording, zip({{"a.har", recording}})}) {
    sink = {};
    Importer importer(sink, false);
    int asked = 0;
    importer.stop_when([&asked] { return ++asked == 2; });
    MemoryInput input(each);
    auto const fault = importer.read(input, [](const std::string&) { return nullptr; }, nullptr);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->system, std::errc::operation_canceled);
    EXPECT_TRUE(sink.exchanges.empty());
  }
}

TEST_F(ImportHar, RefusesWhatIsNoJson) {
  EXPECT_THAT(import(R"({"log":{"entries":[}})"), HasSubstr("not JSON at byte 19"));
  EXPECT_THAT(import(R"({"log":[2,1,3]})"), HasSubstr("the member 'log' is not an object"));
  EXPECT_THAT(import(R"({"log":{}})"), HasSubstr("the list 'entries' is missing"));
  std::string const deep(100'000, '[');
  EXPECT_THAT(import(R"({"log":{"x":)" + deep), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace reprise::importing
