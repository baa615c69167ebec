#include "archive/import/mahimahi.h"

#include <fstream>

#include "archive/import/source/zip.h"
#include "tests/archive/import/import_fixture.h"
#include "tests/scratch_folder.h"

namespace reprise::importing {
namespace {

using testing::HasSubstr;

const std::string kWarc =
    "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Target-URI: "
    "http://a.test/\r\nContent-Length: 23\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody\r\n\r\n";

class ImportZip : public ImportTest {};

TEST_F(ImportZip, ReadsThePagesAndTheWarcsOfAWacz) {
  ASSERT_EQ(
      import(zip({{"pages/pages.jsonl",
                   "{\"format\":\"json-pages-1.0\"}\n{\"id\":\"1\",\"url\":\"http://a.test/\"}\n"},
                  {"archive/b.warc", kWarc},
                  {"archive/a.warc.gz", gzip(kWarc)}})),
      "");
  EXPECT_EQ(report.exchanges, 2U);
  EXPECT_EQ(sink.sessions.at(0).pages, std::vector<std::string>{"http://a.test/"});
}

TEST_F(ImportZip, ReadsWaczsInAZip) {
  auto const one = zip({{"archive/a.warc", kWarc}});
  ASSERT_EQ(import(zip({{"one.wacz", one}, {"two.wacz", one}})), "");
  EXPECT_EQ(report.exchanges, 2U);
  EXPECT_THAT(import(zip({{"one.wacz", zip({{"deeper.wacz", one}})}})), HasSubstr("neither"));
}

TEST_F(ImportZip, ReadsAHarWithItsAttachmentsWhateverTheirNames) {
  ASSERT_EQ(import(zip({{"har.har", R"({"log":{"entries":[{"request":{"method":"GET","url":)"
                                    R"("http://a.test/","headers":[]},"response":{"status":200,)"
                                    R"("headers":[],"content":{"_file":"../../etc/passwd"}}}]}})"},
                        {"../../etc/passwd", "content"}})),
            "");
  EXPECT_EQ(body(0), "content") << "an entry of the zip, and nothing outside of it";
}

TEST_F(ImportZip, RefusesWhatDoesNotLieInTheFile) {
  auto text = zip({{"archive/a.warc", kWarc}});
  EXPECT_THAT(import(text.substr(0, text.size() - 30)), HasSubstr("no directory"));
  auto const size_at = text.rfind("PK\x01\x02") + 20;
  text.replace(size_at, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT(import(text), HasSubstr("lies outside the zip: archive/a.warc"));
  EXPECT_THAT(import(zip({{"a.txt", "x"}})), HasSubstr("neither WACZ nor HAR"));
}

TEST_F(ImportZip, RefusesAnEntryThatItsChecksumDoesNotFit) {
  std::string const pages = "{\"url\":\"http://a.test/\"}\n";
  auto const whole = zip({{"pages/pages.jsonl", pages},
                          {"archive/a.warc", kWarc},
                          {"archive/b.warc", kWarc},
                          {"indexes/index.cdx", "unused"}});
  ASSERT_EQ(import(whole), "");
  for (auto const* const place : {"body", "a.test/\"}"}) {
    auto text = whole;
    text[text.find(place)] ^= 1;
    auto const* const name = *place == 'b' ? "archive/a.warc: " : "pages/pages.jsonl: ";
    EXPECT_THAT(import(text), HasSubstr(name + std::string("its CRC-32 or its length")));
    EXPECT_THAT(import(text, true), HasSubstr(name));
    EXPECT_EQ(report.exchanges, 2U) << "it goes on with the next entry";
    EXPECT_EQ(report.damaged, 1U);
  }
}

TEST_F(ImportZip, RefusesADirectoryThatTheEntriesDoNotFit) {
  auto const whole = zip({{"archive/a.warc", kWarc}, {"archive/b.warc", kWarc}});
  auto renamed = whole;
  renamed[renamed.rfind("archive/b.warc")] = 'A';
  EXPECT_THAT(import(renamed), HasSubstr("differ: Archive/b.warc"));
  EXPECT_THAT(import(renamed, true), HasSubstr("differ"));
  EXPECT_EQ(report.exchanges, 1U);
  auto recounted = whole;
  recounted[recounted.rfind("PK\x05\x06") + 10] = 1;
  EXPECT_THAT(import(recounted), HasSubstr("directory is broken"));
}

TEST_F(ImportZip, FindsTheFirstEntryOfAName) {
  auto const bytes = zip({{"a", "one"}, {"b", "two"}, {"a", "three"}});
  MemoryInput input(bytes);
  std::optional<Fault> fault;
  Zip const opened(input, fault);
  ASSERT_FALSE(fault);
  EXPECT_EQ(opened.find("a"), &opened.entries().at(0));
  EXPECT_EQ(opened.find("b"), &opened.entries().at(1));
  EXPECT_EQ(opened.find("c"), nullptr);
}

TEST_F(ImportZip, RefusesABomb) {
  // 1 GiB and a half of zeros as gzip: 1.5 MB.
  std::string const zeros(64 << 20, '\0');
  auto const member =
      gzip("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 99999999999\r\n\r\n");
  std::string bomb = member;
  auto const part = gzip(zeros);
  for (int i = 0; i < 24; ++i) bomb += part;
  EXPECT_THAT(import(bomb), HasSubstr("expands more than 200-fold"));
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out += static_cast<char>(value);
}
std::string bytes_field(unsigned number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

class ImportMahimahi : public ImportTest {
 protected:
  bool take(const std::string& file) {
    sink = {};
    Collector collector(sink, false);
    auto const good = import_mahimahi(file, std::nullopt, collector) && !collector.failed();
    report = collector.report();
    return good;
  }
};

/// With these fields of the response.
std::string mahimahi_record(const std::string& fields = "") {
  return bytes_field(1, "192.0.2.1") + varint(2 << 3) + varint(8443) + varint(3 << 3) + varint(2) +
         bytes_field(4,
                     bytes_field(1, "GET /x HTTP/1.1") +
                         bytes_field(2, bytes_field(1, "Host") + bytes_field(2, "a.test:8443"))) +
         bytes_field(5, bytes_field(1, "HTTP/1.1 200 OK") + fields +
                            bytes_field(2, bytes_field(1, "Transfer-Encoding") +
                                               bytes_field(2, "chunked")) +
                            bytes_field(3, "4\r\nbody\r\n0\r\n\r\n"));
}

TEST_F(ImportMahimahi, ReadsAnExchange) {
  ASSERT_TRUE(take(mahimahi_record()));
  EXPECT_EQ(url(0), "https://a.test:8443/x");
  EXPECT_EQ(body(0), "body");
  EXPECT_EQ(sink.connections.at(0).address, "192.0.2.1:8443");
}

TEST_F(ImportMahimahi, RefusesEveryCutOfAnExchange) {
  auto const record = mahimahi_record();
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_FALSE(take(record.substr(0, size))) << size;
  }
}

TEST_F(ImportMahimahi, RefusesFieldsThatComeTwiceOrAsSomethingElse) {
  auto const record = mahimahi_record();
  auto const address = bytes_field(1, "192.0.2.1");
  EXPECT_FALSE(take(record + address));
  EXPECT_FALSE(take(record + varint(1 << 3) + varint(5)));
  EXPECT_FALSE(take(record + "garbage"));
  ASSERT_TRUE(take(record + varint(9 << 3) + varint(5)));
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("some files have unknown fields")));
}

TEST_F(ImportMahimahi, IsRecognisedByItsBeginningUpToTheRequestLine) {
  auto const record = mahimahi_record();
  EXPECT_TRUE(begins_as_mahimahi(record));
  auto const line_end = record.find("HTTP/1.1") + 8;
  EXPECT_TRUE(begins_as_mahimahi(record.substr(0, line_end)));
  for (std::size_t size = 0; size < line_end; ++size) {
    EXPECT_FALSE(begins_as_mahimahi(record.substr(0, size))) << size;
  }
  EXPECT_FALSE(begins_as_mahimahi(bytes_field(4, bytes_field(1, "no request line"))));
  for (auto const* const other : {"\n", "\n\nten letters", "# Notes\n", R"({"log":{}})"}) {
    EXPECT_FALSE(begins_as_mahimahi(other)) << other;
  }
}

TEST_F(ImportMahimahi, IsAFolderWithExchangesBesideOtherFiles) {
  ScratchFolder const folder;
  auto const write = [&](std::string_view name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  EXPECT_FALSE(is_mahimahi_folder(folder.path())) << "it is empty";
  write("save.b", mahimahi_record());
  write(".hidden", "no exchange");
  EXPECT_TRUE(is_mahimahi_folder(folder.path()));
  EXPECT_FALSE(is_mahimahi_folder(folder / "save.b")) << "a file";
  EXPECT_FALSE(is_mahimahi_folder(folder / "nothing"));
  write("save.c", mahimahi_record());
  Importer importer(sink, false);
  EXPECT_FALSE(importer.read_path(folder.path(), nullptr));
  EXPECT_FALSE(importer.finish());
  EXPECT_EQ(importer.report().exchanges, 2U);
  write("notes.txt", "no exchange");
  EXPECT_TRUE(is_mahimahi_folder(folder.path()));
  CollectingSink more;
  Importer again(more, false);
  EXPECT_FALSE(again.read_path(folder.path(), nullptr)) << "other files are passed over";
  EXPECT_FALSE(again.finish());
  EXPECT_EQ(again.report().exchanges, 2U);
  EXPECT_THAT(again.report().remarks,
              testing::Contains(testing::StartsWith("1 file of the folder")));
}

TEST_F(ImportMahimahi, IsAFolderWhoseFilesAreRenamed) {
  ScratchFolder const folder;
  auto const write = [&](std::string_view name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  write("0", "no exchange");
  EXPECT_FALSE(is_mahimahi_folder(folder.path()));
  write("1", mahimahi_record());
  EXPECT_TRUE(is_mahimahi_folder(folder.path()));
}

TEST_F(ImportMahimahi, BeginsWithTheEarliestDateOfAResponse) {
  auto const header = [](const std::string& name, const std::string& value) {
    return bytes_field(2, bytes_field(1, name) + bytes_field(2, value));
  };
  ScratchFolder const folder;
  int number = 0;
  for (auto const& fields :
       {header("Date", "Mon, 15 Jun 2020 12:00:09 GMT"),
        header("date", "Mon, 15 Jun 2020 12:00:05 GMT"),
        header("Date", "Mon, 15 Jun 2020 11:00:00 GMT") + header("Age", "3607"),
        header("Date", "Thu, 01 Jan 1970 00:00:00 GMT"), header("Date", "no date"),
        std::string()}) {
    std::ofstream(folder / std::to_string(number++), std::ios::binary) << mahimahi_record(fields);
  }
  Importer importer(sink, false);
  EXPECT_FALSE(importer.read_path(folder.path(), nullptr));
  EXPECT_EQ(sink.sessions.at(0).started,
            std::chrono::system_clock::time_point(std::chrono::seconds(1'592'222'405)));
}

std::string tnet(const std::string& payload, char type) {
  return std::to_string(payload.size()) + ":" + payload + type;
}
std::string text(const std::string& value) {
  return tnet(value, ',');
}

std::string flow(const std::string& response, const std::string& more = "",
                 const std::string& more_of_request = "") {
  auto const headers = tnet(tnet(text("Content-Encoding") + text("gzip"), ']'), ']');
  return tnet(
      text("type") + tnet("http", ';') + text("version") + tnet("19", '#') + text("request") +
          tnet(text("method") + text("GET") + text("scheme") + text("https") + text("host") +
                   tnet("a.test", ';') + text("port") + tnet("443", '#') + text("path") +
                   text("/x") + text("headers") + tnet("", ']') + text("content") + text("") +
                   text("http_version") + text("HTTP/2.0") + text("timestamp_start") +
                   tnet("1500000000.5", '^') + more_of_request,
               '}') +
          text("response") +
          (response.empty() ? tnet("", '~')
                            : tnet(text("content") + response + text("headers") + headers +
                                       text("status_code") + tnet("200", '#') + text("reason") +
                                       text("OK") + text("http_version") + text("HTTP/2.0"),
                                   '}')) +
          more,
      '}');
}

class ImportMitmproxy : public ImportTest {};

TEST_F(ImportMitmproxy, ReadsFlows) {
  auto const coded = gzip("hello");
  ASSERT_EQ(import(flow(text(coded)) + flow(tnet("", '~')) +
                   flow("", text("error") + tnet(text("msg") + text("gone"), '}'))),
            "");
  ASSERT_EQ(sink.exchanges.size(), 3U);
  EXPECT_EQ(url(0), "https://a.test/x");
  EXPECT_EQ(body(0), coded) << "though the body stands before the header that says how it is coded";
  EXPECT_EQ(report.coded, 1U);
  EXPECT_EQ(sink.exchanges[0].response.version, HttpVersion::kH2);
  EXPECT_EQ(sink.exchanges[1].outcome, Outcome::kCutByClient) << "the body was not kept";
  EXPECT_EQ(sink.exchanges[2].failure, "gone");
}

TEST_F(ImportMitmproxy, TakesTheNameOfTheHostFromTheAuthorityOrElseFromTheHostField) {
  ASSERT_EQ(import(flow(text("x"), "", text("authority") + text("b.test:443")) +
                   flow(text("x"), "", text("authority") + text(""))),
            "");
  EXPECT_EQ(url(0), "https://b.test/x");
  EXPECT_EQ(url(1), "https://a.test/x");
  auto const fields_of_host = tnet(tnet(text("Host") + text("c.test"), ']'), ']');
  ASSERT_EQ(import(flow(text("x"), "", text("headers") + fields_of_host)), "");
  EXPECT_EQ(url(0), "https://c.test/x");
}

TEST_F(ImportMitmproxy, FindsARequestWhoseBodyWasNotKeptWithoutIt) {
  auto const sent = [](const std::string& method, const std::string& length) {
    auto const headers = tnet(tnet(text("Content-Length") + text(length), ']'), ']');
    auto recording =
        flow(text("x"), "",
             text("method") + text(method) + (length.empty() ? "" : text("headers") + headers));
    return recording.replace(recording.find("7:content,0:,"), 13, "7:content,0:~");
  };
  auto const is_partial = [&](const std::string& recording) {
    EXPECT_EQ(import(recording), "");
    return sink.exchanges.at(0).request.body_partial;
  };
  EXPECT_TRUE(is_partial(sent("PUT", "")));
  EXPECT_TRUE(is_partial(sent("PUT", "5")));
  EXPECT_FALSE(is_partial(sent("PUT", "0")));
  EXPECT_TRUE(is_partial(sent("GET", "5")));
  EXPECT_FALSE(is_partial(sent("GET", ""))) << "null is also none";
  EXPECT_FALSE(is_partial(sent("OPTIONS", "")));
  EXPECT_FALSE(is_partial(flow(text("x"))));
}

std::string message(const char* opcode, const char* from_client, const std::string& content,
                    const char* dropped = "false") {
  return tnet(tnet(opcode, '#') + tnet(from_client, '!') + text(content) +
                  tnet("1500000001.25", '^') + tnet(dropped, '!') + tnet("false", '!'),
              ']');
}

TEST_F(ImportMitmproxy, TakesWebSocketMessages) {
  auto const socket = tnet(text("messages") +
                               tnet(message("1", "true", "hello") + message("2", "false", "\xff") +
                                        message("1", "false", "dropped", "true"),
                                    ']') +
                               text("closed_by_client") + tnet("false", '!') + text("close_code") +
                               tnet("1000", '#') + text("close_reason") + tnet("bye", ';') +
                               text("timestamp_end") + tnet("1500000002.5", '^'),
                           '}');
  auto recording = flow(text(""), text("websocket") + socket);
  recording.replace(recording.find("3:200#"), 6, "3:101#");
  ASSERT_EQ(import(recording), "");
  ASSERT_EQ(sink.exchanges.size(), 1U);
  EXPECT_TRUE(opens_web_socket(sink.exchanges[0]));
  EXPECT_THAT(sink.messages, testing::ElementsAre("client text hello", "origin binary \xff",
                                                  "origin close \x03\xe8"
                                                  "bye"));
  EXPECT_EQ(sink.message_times.at(2) - sink.message_times.at(0), std::chrono::milliseconds(1250));
  EXPECT_EQ(report.websocket_messages, 1U) << "what was dropped never arrived";
}

/// The handshake of a WebSocket as mitmproxy wrote it before version 7.
std::string old_handshake(const std::string& id, const std::string& more = "") {
  auto recording = flow(text(""), text("id") + tnet(id, ';') + text("metadata") +
                                      tnet(text("websocket") + tnet("true", '!') +
                                               text("websocket_flow") + tnet("5", '#'),
                                           '}') +
                                      more);
  return recording.replace(recording.find("3:200#"), 6, "3:101#");
}

/// An element of a list of messages, without the last member, which came later.
std::string old_message(const char* opcode, const char* from_client, const std::string& content,
                        const char* killed = "false") {
  return tnet(tnet(opcode, '#') + tnet(from_client, '!') + text(content) + tnet("1500000001", '#') +
                  tnet(killed, '!'),
              ']');
}

std::string old_messages(const std::string& handshake, const std::string& messages,
                         const char* sender, const char* code, const char* reason) {
  return tnet(text("id") + tnet("other", ';') + text("error") + tnet("", '~') +
                  text("server_conn") +
                  tnet(text("timestamp_end") + tnet("1500000002.5", '^'), '}') + text("type") +
                  tnet("websocket", ';') + text("metadata") +
                  tnet(text("websocket_handshake") + tnet(handshake, ';'), '}') + text("messages") +
                  tnet(messages, ']') + text("close_sender") + tnet(sender, ';') +
                  text("close_code") + tnet(code, '#') + text("close_message") +
                  tnet("(message missing)", ';') + text("close_reason") + tnet(reason, ';') +
                  text("client_key") + tnet("", ';') + text("version") + tnet("7", '#'),
              '}');
}

TEST_F(ImportMitmproxy, TakesWebSocketMessagesOfASeparateFlow) {
  auto const messages = old_message("1", "true", "hello") + old_message("2", "false", "\xff") +
                        old_message("1", "false", "killed", "true");
  ASSERT_EQ(import(flow(text("x")) + old_handshake("one") + old_handshake("two") + flow(text("y")) +
                   old_messages("two", messages, "server", "1000", "bye") +
                   old_messages("one", "", "client", "1005", "")),
            "");
  ASSERT_EQ(sink.exchanges.size(), 4U);
  EXPECT_EQ(sink.exchanges[2].sequence, 3U) << "its place is that of the handshake";
  EXPECT_EQ(sink.exchanges[3].sequence, 2U);
  for (auto const& each : sink.exchanges) EXPECT_EQ(each.outcome, Outcome::kComplete);
  EXPECT_TRUE(opens_web_socket(sink.exchanges[2]));
  EXPECT_TRUE(opens_web_socket(sink.exchanges[3]));
  EXPECT_THAT(sink.messages, testing::ElementsAre("client text hello", "origin binary \xff",
                                                  "origin close \x03\xe8"
                                                  "bye",
                                                  "client close "));
  EXPECT_EQ(sink.message_times.at(2) - sink.message_times.at(0), std::chrono::milliseconds(1500));
  EXPECT_EQ(report.websocket_messages, 1U) << "what was killed never arrived";
  EXPECT_EQ(report.not_http, 0U);
}

TEST_F(ImportMitmproxy, TakesASeparateFlowThatWasNotClosed) {
  ASSERT_EQ(import(old_handshake("one") + old_messages("one", old_message("1", "true", "hello"),
                                                       "client", "1000", "unknown status code")),
            "");
  EXPECT_THAT(sink.messages, testing::ElementsAre("client text hello"));
  ASSERT_EQ(import(old_handshake("one") +
                   old_messages("one", "", "client", "1000", "unknown status code")),
            "");
  EXPECT_TRUE(opens_web_socket(sink.exchanges.at(0))) << "it had no messages";
  EXPECT_THAT(sink.messages, testing::IsEmpty());
}

TEST_F(ImportMitmproxy, SkipsMessagesWithoutTheirHandshake) {
  auto const messages = old_message("1", "true", "hello") + old_message("2", "false", "x");
  ASSERT_EQ(import(old_handshake("one") + old_messages("two", messages, "client", "1000", "bye") +
                   flow(text("x"))),
            "");
  EXPECT_EQ(report.websocket_messages, 2U);
  EXPECT_EQ(report.not_http, 1U);
  EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("whose handshake is not in")));
  ASSERT_EQ(sink.exchanges.size(), 2U);
  EXPECT_EQ(sink.exchanges[1].sequence, 1U);
  EXPECT_EQ(sink.exchanges[1].outcome, Outcome::kCutByClient);
  EXPECT_FALSE(opens_web_socket(sink.exchanges[1]));
  EXPECT_THAT(sink.messages, testing::IsEmpty());
}

TEST_F(ImportMitmproxy, KeepsHandshakesBeforeDamage) {
  auto const good = old_handshake("one");
  EXPECT_THAT(import(good + old_messages("one", "12", "client", "1000", "bye")),
              HasSubstr("flow 2 at byte"));
  ASSERT_EQ(sink.exchanges.size(), 1U);
  EXPECT_EQ(sink.exchanges[0].outcome, Outcome::kCutByClient);
}

TEST_F(ImportMitmproxy, ABoundedNumberOfHandshakesWaits) {
  std::string recording;
  for (int i = 0; i < 257; ++i) recording += old_handshake(std::to_string(i));
  auto const hello = old_message("1", "true", "hello");
  ASSERT_EQ(import(recording + old_messages("0", hello, "client", "1000", "bye") +
                   old_messages("1", hello, "client", "1000", "bye")),
            "");
  EXPECT_EQ(sink.exchanges.size(), 257U);
  EXPECT_EQ(report.websocket_messages, 1U) << "the oldest was added before";
  EXPECT_EQ(report.messages, 2U);
}

TEST_F(ImportMitmproxy, DoesNotWaitForMessagesSinceVersion7) {
  ASSERT_EQ(import(old_handshake("one", text("websocket") + tnet("", '~')) + flow(text("x")) +
                   old_messages("one", "", "client", "1000", "bye")),
            "");
  ASSERT_EQ(sink.exchanges.size(), 2U);
  EXPECT_EQ(sink.exchanges[0].outcome, Outcome::kCutByClient);
  EXPECT_EQ(report.not_http, 1U);
}

TEST_F(ImportMitmproxy, AWebSocketNeedsNoMessages) {
  auto recording = flow(
      text(""),
      text("websocket") +
          tnet(text("messages") + tnet("", ']') + text("closed_by_client") + tnet("", '~'), '}'));
  recording.replace(recording.find("3:200#"), 6, "3:101#");
  ASSERT_EQ(import(recording), "");
  EXPECT_TRUE(opens_web_socket(sink.exchanges.at(0)));
  EXPECT_EQ(sink.exchanges[0].outcome, Outcome::kComplete);
}

TEST_F(ImportMitmproxy, DoesNotCountMessagesOfTcp) {
  auto const messages =
      tnet(tnet(tnet("true", '!') + text("bytes") + tnet("1500000001.25", '^'), ']'), ']');
  ASSERT_EQ(import(flow(text("x")) +
                   tnet(text("type") + tnet("tcp", ';') + text("messages") + messages, '}')),
            "");
  EXPECT_EQ(report.not_http, 1U);
  EXPECT_EQ(report.websocket_messages, 0U);
}

TEST_F(ImportMitmproxy, SkipsAMessageThatIsTooLong) {
  std::string const longer(kMessagePayloadMax + 2, 'm');
  auto const socket = tnet(
      text("messages") + tnet(message("2", "false", longer) + message("1", "true", "hello"), ']'),
      '}');
  auto recording = flow(text(""), text("websocket") + socket);
  recording.replace(recording.find("3:200#"), 6, "3:101#");
  ASSERT_EQ(import(recording + flow(text("x"))), "");
  EXPECT_EQ(sink.exchanges.size(), 2U);
  EXPECT_THAT(sink.messages, testing::ElementsAre("client text hello"));
  EXPECT_EQ(report.websocket_messages, 1U);
}

TEST_F(ImportMitmproxy, SkipsTextsThatAreTooLong) {
  std::string const longer((1 << 20) + 1, 'A');
  auto const headers = text("headers") + tnet(tnet(text("Long") + text(longer), ']') +
                                                  tnet(text("Host") + text("c.test"), ']') +
                                                  tnet(text("A") + text("1"), ']'),
                                              ']');
  auto const error = text("error") + tnet(text("msg") + text(longer), '}');
  ASSERT_EQ(import(flow(text("x"), "", headers) + flow(text("y"), error) +
                   flow(text("z"), "", text("path") + text("/" + longer)) +
                   flow(text("x"), text(longer) + text("y"))),
            "");
  ASSERT_EQ(sink.exchanges.size(), 3U);
  EXPECT_EQ(url(0), "https://c.test/x");
  EXPECT_EQ(sink.exchanges[0].request.headers.size(), 1U);
  EXPECT_EQ(report.too_large, 1U) << "the URL";
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("some of their fields are skipped"),
                                                   HasSubstr("some texts are longer than 1 MiB"),
                                                   HasSubstr("skipped: the URL is longer")));
}

TEST_F(ImportMitmproxy, NamesTheFlowAndTheByteOfWhatIsWrong) {
  auto const good = flow(text("x"));
  EXPECT_THAT(import(good + good.substr(0, 50)),
              HasSubstr("flow 2 at byte " + std::to_string(good.size() + 50)));
  EXPECT_THAT(import("9:4:type,99:"), HasSubstr("longer than its container"));
}

TEST_F(ImportMitmproxy, RefusesWhatIsNotOfItsType) {
  auto const good = flow(text("x"));
  auto const with = [&good](std::string_view from, std::string_view to) {
    auto changed = good;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_THAT(import(with("3:443#", "3:4a3#")), HasSubstr("a value does not match its type"));
  EXPECT_THAT(import(with("3:200#", "3:200!")), HasSubstr("a value does not match its type"));
  EXPECT_THAT(import(with("7:headers,", "7:hfaders,")), HasSubstr("flow 1 at byte"));
  EXPECT_THAT(import(with("7:request,", "7:rfquest,")), HasSubstr("flow 1 contains no request"));
  EXPECT_THAT(import(with("4:http;", "4:htup;")), HasSubstr("flow 1 has an unknown type"));
  EXPECT_THAT(import(with("8:HTTP/2.0,}", "8:HTTP/2.0,]")),
              HasSubstr("a dictionary is expected here"));
  EXPECT_THAT(import(tnet(text("type") + tnet("http", ';') + text("version"), '}')),
              HasSubstr("a key without a value"));
  EXPECT_THAT(import(good + "12"), HasSubstr("flow 2 at byte"));
}

class ImportAnything : public ImportTest {};

TEST_F(ImportAnything, IsToldApartByContent) {
  EXPECT_EQ(recognise("WARC/1.0\r\n"), RecordingKind::kWarc);
  EXPECT_EQ(recognise("filedesc://x"), RecordingKind::kArc);
  EXPECT_EQ(recognise("\xef\xbb\xbf {\"log\": {"), RecordingKind::kHar);
  EXPECT_EQ(recognise("{\"Requests\": {"), RecordingKind::kWprgo);
  EXPECT_EQ(recognise("PK\x03\x04"), RecordingKind::kZip);
  EXPECT_EQ(recognise("1234:4:type;"), RecordingKind::kMitmproxy);
  EXPECT_EQ(recognise("hello"), RecordingKind::kUnknown);
  EXPECT_EQ(recognise("onInputData({\"log\": {"), RecordingKind::kHar);
  EXPECT_EQ(recognise("{\"a\": 1}"), RecordingKind::kUnknown);
}

TEST_F(ImportAnything, WithDictionariesInsideDictionariesEnds) {
  std::string nested;
  for (int i = 0; i < 2'000; ++i) {
    nested = "\x5d\x2a\x4d\x18" + little_endian(nested.size(), 4) + nested;
  }
  EXPECT_NE(import(nested), "");
}

TEST_F(ImportAnything, OfNoKnownKindIsSaidSo) {
  EXPECT_THAT(import("hello"), HasSubstr("unknown format"));
  EXPECT_THAT(import(std::string("REPRISE\0 and records", 20)),
              HasSubstr("already a reprise archive"));
  EXPECT_THAT(import(""), HasSubstr("it is empty"));
  EXPECT_THAT(import(gzip("")), HasSubstr("it is empty"));
}

}  // namespace
}  // namespace reprise::importing
