// What tools write into a HAR besides, or against, HAR 1.2.

#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

/// A HAR by `tool` of one entry; each part is the members of an object.
struct HarParts {
  std::string tool = "Test";
  std::string request = R"("method":"GET","headers":[])";
  std::string response = R"("status":200,"headers":[],"content":{"size":2,"text":"hi"})";
  std::string entry = R"("serverIPAddress":"192.0.2.1")";

  std::string text() const {
    return R"({"log":{"creator":{"name":")" + tool + R"(","version":"1"},"entries":[)" +
           R"({"startedDateTime":"2020-01-01T00:00:01.000Z","request":{"url":"https://a.test/x",)" +
           request + R"(},"response":{)" + response + "}," + entry + "}]}}";
  }
};

class ImportHarOfTools : public ImportTest {};

TEST_F(ImportHarOfTools, TellsChromesConnectionsApart) {
  auto const entry = [](const std::string& more) {
    return R"({"startedDateTime":"2020-01-01T00:00:01.000Z","request":{"url":"https://a.test/x",)"
           R"("method":"GET","headers":[]},"response":{"status":200,"headers":[],)"
           R"("content":{"size":2,"text":"hi"}},"serverIPAddress":"192.0.2.1",)" +
           more + R"("timings":{"blocked":0,"dns":1,"connect":5,"send":0,"wait":9,"receive":1}})";
  };
  auto const har = [](const std::string& entries) {
    return R"({"log":{"creator":{"name":"WebInspector","version":"537.36"},"entries":[)" + entries +
           "]}}";
  };
  ASSERT_EQ(import(har(entry(R"("_connectionId":"17","connection":"443",)") + "," +
                       entry(R"("_connectionId":"18","connection":"443",)") + "," +
                       entry(R"("_connectionId":"18","connection":"443",)"))),
            "");
  ASSERT_EQ(sink.connections.size(), 2U);
  EXPECT_NE(sink.connections[1].connect_start, kNoTime);
  EXPECT_EQ(sink.exchanges.at(1).origin_connection_id, sink.exchanges.at(2).origin_connection_id);
  ASSERT_EQ(import(har(entry(R"("connection":"443",)") + "," + entry(R"("connection":"443",)"))),
            "");
  EXPECT_EQ(sink.connections.size(), 2U) << "both were made for their entry";
}

TEST_F(ImportHarOfTools, AWebSocketNeedsNoMessages) {
  HarParts parts{.request = R"("method":"GET","headers":[])",
                 .response = R"("status":101,"headers":[],"content":{"size":0})",
                 .entry = R"("_webSocketMessages":[])"};
  auto text = parts.text();
  text.replace(text.find("https://a.test/x"), 5, "wss");
  ASSERT_EQ(import(text), "");
  EXPECT_TRUE(opens_web_socket(sink.exchanges.at(0)));
}

TEST_F(ImportHarOfTools, FindsTlsBesideOrWithinTheConnectionByTheEntrysTime) {
  using std::chrono::milliseconds;
  struct Case {
    std::string tool;
    std::string time;
    int connect = 0;
    int ssl = 0;
    SessionTime tls_start, ready, first_byte;
  };
  auto const none = kNoTime;
  for (const Case& each : {
           // Firefox: 89 + 0 + 32 + 66 + 60.
           Case{"Firefox", R"("time":247,)", 32, 66, milliseconds(121), milliseconds(187),
                milliseconds(247)},
           Case{"Test", R"("time":247,)", 32, 66, milliseconds(121), milliseconds(187),
                milliseconds(247)},
           Case{"Firefox", "", 32, 66, milliseconds(121), milliseconds(187), milliseconds(247)},
           Case{"Test", "", 32, 66, none, milliseconds(121), milliseconds(181)},
           // Within `connect`, as HAR 1.2 says, also if it is one handshake of HTTP/3.
           Case{"Test", R"("time":181,)", 32, 20, milliseconds(101), milliseconds(121),
                milliseconds(181)},
           Case{"Test", R"("time":181,)", 32, 32, none, milliseconds(121), milliseconds(181)},
           Case{"Firefox", R"("time":181,)", 32, 20, milliseconds(101), milliseconds(121),
                milliseconds(181)},
           // A shorter TLS handshake beside it.
           Case{"Test", R"("time":201,)", 32, 20, milliseconds(121), milliseconds(141),
                milliseconds(201)},
           // Counted twice.
           Case{"Playwright", R"("time":201,)", 32, 20, milliseconds(101), milliseconds(121),
                milliseconds(181)},
       }) {
    SCOPED_TRACE(each.tool + " " + each.time + std::to_string(each.ssl));
    HarParts parts{.tool = each.tool};
    parts.entry += "," + each.time + R"("timings":{"blocked":89,"dns":0,"connect":)" +
                   std::to_string(each.connect) + R"(,"ssl":)" + std::to_string(each.ssl) +
                   R"(,"send":0,"wait":60,"receive":0})";
    ASSERT_EQ(import(parts.text()), "");
    auto const& facts = sink.connections.at(0);
    EXPECT_EQ(facts.connect_start, milliseconds(89));
    EXPECT_EQ(facts.tls_start, each.tls_start);
    EXPECT_EQ(facts.ready, each.ready);
    EXPECT_EQ(sink.exchanges.at(0).timings.request_sent, each.ready);
    EXPECT_EQ(sink.exchanges[0].timings.first_byte, each.first_byte);
    EXPECT_EQ(sink.exchanges[0].timings.end, each.first_byte);
  }
}

TEST_F(ImportHarOfTools, DropsACodingThatDecodedContentMatchesByChance) {
  struct Case {
    std::string coding;
    std::string content;
    bool stays = false;
  };
  for (const Case& each : {
           // These bytes are empty brotli streams; bytes after the end do not count.
           Case{"br", R"("size":1,"text":"3")"},
           Case{"gzip, BR", R"("size":1,"text":"7")"},
           Case{"br", R"("size":17,"text":";(function(){});a")"},
           Case{"br", R"("text":"=","size":9)"},
           Case{"br", R"("size":1,"text":"Ow==","encoding":"base64")"},
           Case{"br", R"("size":20,"text":"OzEyMzQ1Njc4OTAxMjM0NTY3ODk=","encoding":"base64")"},
           Case{"deflate", R"("size":3,"text":"K\u0004\u0000")"},
           // Coded: "a" and empty bodies.
           Case{"br", R"("size":1,"text":"CwCAYQM=","encoding":"base64")", true},
           Case{"deflate", R"("size":1,"text":"SwQA","encoding":"base64")", true},
           Case{"br", R"("size":0,"text":"Ow==","encoding":"base64")", true},
           Case{"br", R"("size":0,"text":"")", true},
       }) {
    SCOPED_TRACE(each.coding + " " + each.content);
    HarParts const parts{.response =
                             R"("status":200,"headers":[{"name":"Content-Encoding","value":")" +
                             each.coding + R"("}],"content":{)" + each.content + "}"};
    ASSERT_EQ(import(parts.text()), "");
    EXPECT_EQ(fields(0), each.stays ? "Content-Encoding: " + each.coding + "\n" : "");
    EXPECT_EQ(report.codings_dropped, each.stays ? 0U : 1U);
  }
}

TEST_F(ImportHarOfTools, TakesTheAsciiNameOfAHostFromTheHostField) {
  HarParts parts;
  auto const import_of = [&] {
    auto text = parts.text();
    std::string const host = "a.test";
    return import(text.replace(text.find(host), host.size(), R"(b\u00fccher.test)"));
  };
  ASSERT_EQ(import_of(), "");
  EXPECT_EQ(url(0), "https://b\u00fccher.test/x");
  EXPECT_THAT(report.remarks, testing::ElementsAre(testing::HasSubstr("no request of a browser")));
  parts.request = R"("method":"GET","headers":[{"name":"Host","value":"xn--bcher-kva.test"}])";
  ASSERT_EQ(import_of(), "");
  EXPECT_EQ(url(0), "https://xn--bcher-kva.test/x");
  EXPECT_THAT(report.remarks, testing::IsEmpty());
}

std::string text_of_type(const std::string& type, const std::string& content) {
  return R"("status":200,"headers":[{"name":"Content-Type","value":")" + type +
         R"("}],"content":{)" + content + "}";
}

TEST_F(ImportHarOfTools, SaysThatTextBeyondAsciiIsUtf8) {
  struct Case {
    std::string type;
    std::string becomes;
  };
  for (const Case& each : {
           Case{"text/html; charset=windows-1251", "text/html; charset=utf-8"},
           Case{R"(text/html;CharSet=\"koi8-r\"; x=1)", "text/html; charset=utf-8; x=1"},
           Case{"text/css", "text/css; charset=utf-8"},
           Case{"Application/JavaScript", "Application/JavaScript; charset=utf-8"},
           Case{"image/svg+xml", "image/svg+xml; charset=utf-8"},
           Case{"application/json; charset=iso-8859-1", "application/json; charset=utf-8"},
           Case{"application/json", "application/json"},
           Case{"text/html; charset=UTF-8", "text/html; charset=UTF-8"},
           Case{"image/png", "image/png"},
           Case{"", ""},
       }) {
    SCOPED_TRACE(each.type);
    HarParts parts;
    parts.response = text_of_type(each.type, R"("size":3,"text":"\u0434a")");
    ASSERT_EQ(import(parts.text()), "");
    EXPECT_EQ(fields(0), "Content-Type: " + each.becomes + "\n");
    EXPECT_EQ(body(0),
              "\xd0\xb4"
              "a");
    EXPECT_EQ(report.charsets_corrected, each.type == each.becomes ? 0U : 1U);
  }
}

TEST_F(ImportHarOfTools, LeavesTheCharsetOfOtherTextAndOfOurOwnExport) {
  std::string const type = "text/html; charset=windows-1251";
  auto const beyond_ascii = text_of_type(type, R"("size":3,"text":"\u0434a")");
  for (const HarParts& parts : {
           HarParts{.response = text_of_type(type, R"("size":2,"text":"hi")")},
           HarParts{.response =
                        text_of_type(type, R"("size":2,"text":"5OA=","encoding":"base64")")},
           HarParts{.response = text_of_type(type, "\"size\":1,\"text\":\"\xe4\"")},
           HarParts{.tool = "reprise", .response = beyond_ascii},
       }) {
    ASSERT_EQ(import(parts.text()), "");
    EXPECT_EQ(fields(0), "Content-Type: " + type + "\n");
    EXPECT_EQ(report.charsets_corrected, 0U);
  }
}

TEST_F(ImportHarOfTools, SaysThatAsciiIsUtf8InsteadOfACharsetThatDoesNotExtendIt) {
  for (const char* const charset :
       {"utf-16", R"(\"UTF-16LE\")", "unicode", "ucs-2", "utf-32be", "utf-7"}) {
    SCOPED_TRACE(charset);
    auto const type = std::string("text/css; charset=") + charset;
    HarParts parts{.response = text_of_type(type, R"("size":4,"text":"hi")")};
    ASSERT_EQ(import(parts.text()), "");
    EXPECT_EQ(fields(0), "Content-Type: text/css; charset=utf-8\n");
    EXPECT_EQ(body(0), "hi");
    EXPECT_EQ(report.charsets_corrected, 1U);
    parts.response = R"("status":200,"content":{"text":"hi"},"headers":[{"name":"Content-Type",)"
                     R"("value":")" +
                     type + R"("}])";
    ASSERT_EQ(import(parts.text()), "");
    EXPECT_EQ(report.charsets_corrected, 1U) << "the content is before the head";
    parts.response = text_of_type(type, R"("size":4,"text":"aABpAA==","encoding":"base64")");
    ASSERT_EQ(import(parts.text()), "");
    EXPECT_EQ(report.charsets_corrected, 0U) << "these are the bytes of the response";
    parts.response = text_of_type(type, R"("size":0,"text":"")");
    ASSERT_EQ(import(parts.text()), "");
    EXPECT_EQ(report.charsets_corrected, 0U);
  }
}

TEST_F(ImportHarOfTools, TakesABodyThatIsShorterThanFirefoxsSizeForCut) {
  auto const with = [](const std::string& fields, const std::string& content) {
    return R"("status":200,"headers":[)" + fields + R"(],"content":{)" + content + "}";
  };
  auto const length = [](const std::string& value) {
    return R"({"name":"Content-Length","value":")" + value + R"("})";
  };
  std::string const coding = R"({"name":"Content-Encoding","value":"gzip"},)";
  for (const HarParts& cut : {
           HarParts{.tool = "Firefox", .response = with(length("9"), R"("size":9,"text":"begin")")},
           HarParts{
               .tool = "Firefox",
               .response = with(length("9"), R"("size":9,"text":"YmVnaW4=","encoding":"base64")")},
           // The length was that of the coded body.
           HarParts{.tool = "Firefox",
                    .response = with(coding + length("3"), R"("size":9,"text":"begin")")},
       }) {
    SCOPED_TRACE(cut.response);
    ASSERT_EQ(import(cut.text()), "");
    EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kCutByClient);
    EXPECT_EQ(sink.exchanges[0].failure, "the browser kept only a part of the body");
    EXPECT_EQ(fields(0), "Content-Length: 9\n");
    EXPECT_EQ(body(0), "begin");
    EXPECT_THAT(report.remarks,
                testing::ElementsAre(testing::HasSubstr("devtools.netmonitor.responseBodyLimit")));
  }
  for (const HarParts& whole : {
           HarParts{.tool = "Firefox", .response = with(length("8"), R"("size":8,"text":"begin")")},
           HarParts{
               .tool = "Firefox",
               .response = text_of_type("text/css; charset=utf-16", R"("size":12,"text":"begin")")},
           HarParts{.tool = "Firefox", .response = with("", R"("size":5,"text":"begin")")},
           HarParts{.tool = "Firefox",
                    .response = R"("status":304,"headers":[],"content":{"size":9,"text":"begin"})"},
           HarParts{.response = with(length("9"), R"("size":9,"text":"begin")")},
       }) {
    SCOPED_TRACE(whole.response);
    ASSERT_EQ(import(whole.text()), "");
    EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kComplete);
    EXPECT_THAT(report.remarks, testing::IsEmpty());
  }
}

TEST_F(ImportHarOfTools, FindsARequestWhoseBodyIsMissingWithoutIt) {
  struct Case {
    std::string request;
    bool is_partial = false;
  };
  std::string const post = R"("method":"POST","headers":[],)";
  std::string const params = R"("params":[{"name":"a","value":"1"}])";
  auto const of_length = [](const std::string& length) {
    return R"("method":"POST","headers":[{"name":"content-length","value":")" + length + R"("}])";
  };
  for (const Case& each : {
           Case{post + R"("postData":{)" + params + "}", true},
           Case{post + R"("postData":{"text":"",)" + params + "}", true},
           Case{post + R"("postData":{"text":"a=1",)" + params + "}", false},
           Case{post + R"("postData":{"params":[]})", false},
           Case{post + R"("postData":{"params":null})", false},
           Case{post + R"("bodySize":3)", true},
           Case{of_length("3"), true},
           Case{of_length("0"), false},
           Case{of_length("-1"), false},
           Case{of_length("3") + R"(,"postData":{"text":"a=1"})", false},
       }) {
    SCOPED_TRACE(each.request);
    HarParts parts{.request = each.request};
    ASSERT_EQ(import(parts.text()), "");
    EXPECT_EQ(sink.exchanges.at(0).request.body_partial, each.is_partial);
  }
}

TEST_F(ImportHarOfTools, TakesARedirectWithoutItsBodyForComplete) {
  auto const of_status = [](const std::string& status) {
    return R"("status":)" + status +
           R"(,"headers":[{"name":"Location","value":"/y"},{"name":"Content-Length","value":"9"}],)"
           R"("bodySize":9,"content":{"size":9})";
  };
  for (const char* const status : {"301", "302", "307"}) {
    HarParts const parts{.response = of_status(status)};
    ASSERT_EQ(import(parts.text()), "");
    EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kComplete) << status;
    EXPECT_EQ(fields(0), "Location: /y\nContent-Length: 0\n");
  }
  HarParts const parts{.response = of_status("404")};
  ASSERT_EQ(import(parts.text()), "");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kCutByClient);
}

TEST_F(ImportHarOfTools, FindsThePagesTheToolAndTheStartAfterTheEntries) {
  std::string const start =
      R"({"log":{"entries":[{"startedDateTime":"2020-01-01T00:00:01.500Z",)"
      R"("request":{"method":"GET","url":"https://a.test/x"},)"
      R"("response":{"status":200,"headers":[],"content":{"size":2,"text":"hi"}}}],)"
      R"("pages":[{"startedDateTime":"2020-01-01T00:00:00.000Z","title":"https://a.test/"}])";
  auto const text = start + R"(,"creator":{"name":"Test","version":"1"}}})";
  for (auto const& each : {text, gzip(text), zip({{"a.har", text}}), "call(" + text + ")"}) {
    ASSERT_EQ(import(each), "");
    EXPECT_EQ(sink.sessions.at(0).pages, std::vector<std::string>{"https://a.test/"});
    EXPECT_THAT(sink.sessions[0].tool_version, testing::HasSubstr("a HAR by Test 1"));
    EXPECT_EQ(sink.exchanges.at(0).timings.queued, std::chrono::milliseconds(1500));
  }
  ASSERT_EQ(import(start + R"(,"_started":"2020-01-01T00:00:01Z"}})"), "");
  EXPECT_EQ(sink.exchanges.at(0).timings.queued, std::chrono::milliseconds(500));
}

class ImportHarWithAttachments : public ImportTest {
 protected:
  /// A HAR whose entries all name the file "a", each with these response fields.
  static std::string har_of(const std::vector<std::string>& fields_of_entries) {
    std::string recording;
    for (const std::string& each : fields_of_entries) {
      HarParts const parts{.response = R"("status":200,"headers":[)" + each +
                                       R"(],"content":{"_file":"a"})"};
      auto const whole = parts.text();
      auto const entry_at = whole.find(R"({"startedDateTime")");
      recording += recording.empty() ? whole.substr(0, entry_at) : ",";
      recording += whole.substr(entry_at, whole.size() - entry_at - kEnd.size());
    }
    return recording + std::string(kEnd);
  }
  static std::string coded(const std::string& coding) {
    return R"({"name":"Content-Encoding","value":")" + coding + R"("})";
  }

  static constexpr std::string_view kEnd = "]}}";
};

TEST_F(ImportHarWithAttachments, StoresOneOnceHoweverManyEntriesNameIt) {
  attachments.emplace("a", MemoryInput("attached"));
  ASSERT_EQ(import(har_of({"", "", ""})), "");
  ASSERT_EQ(sink.exchanges.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(body(i), "attached");
  EXPECT_EQ(sink.body_bytes, 8U);
}

TEST_F(ImportHarWithAttachments, ChecksOneAgainUnderAnotherCodingWithoutStoringItAgain) {
  auto const content = gzip("hello");
  attachments.emplace("a", MemoryInput(content));
  auto const unknown = coded(std::string(200, 'x'));
  ASSERT_EQ(import(har_of({"", coded("gzip"), coded("br"), coded("gzip"), unknown, unknown})), "");
  EXPECT_EQ(sink.body_bytes, content.size());
  EXPECT_EQ(fields(0), "");
  EXPECT_EQ(fields(1), "Content-Encoding: gzip\n");
  EXPECT_EQ(fields(2), "") << "it is not brotli";
  EXPECT_EQ(fields(3), "Content-Encoding: gzip\n");
  EXPECT_EQ(report.codings_dropped, 1U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(body(i), content);
}

TEST_F(ImportHarWithAttachments, StoresOneOnceForAllHarsOfAZip) {
  auto const har = har_of({"", ""});
  ASSERT_EQ(import(zip({{"1.har", har}, {"2.har", har}, {"a", "attached"}})), "");
  EXPECT_EQ(sink.exchanges.size(), 4U);
  EXPECT_EQ(sink.body_bytes, 8U);
}

}  // namespace
}  // namespace reprise::importing
