#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

using testing::HasSubstr;

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
  EXPECT_THAT(import(with("7:headers,", "7:hfaders,")), HasSubstr("flow 1 before byte"));
  EXPECT_THAT(import(with("7:request,", "7:rfquest,")), HasSubstr("flow 1 contains no request"));
  EXPECT_THAT(import(with("4:http;", "4:htup;")), HasSubstr("flow 1 has an unknown type"));
  EXPECT_THAT(import(with("8:HTTP/2.0,}", "8:HTTP/2.0,]")),
              HasSubstr("a dictionary is expected here"));
  EXPECT_THAT(import(tnet(text("type") + tnet("http", ';') + text("version"), '}')),
              HasSubstr("a key without a value"));
  EXPECT_THAT(import(good + "12"), HasSubstr("flow 2 at byte"));
}

/// A flow of mitmproxy 9 and later.
std::string dns_flow(bool has_type_first) {
  auto const type = text("type") + tnet("dns", ';');
  auto const messages = text("request") +
                        tnet(text("id") + tnet("1", '#') + text("questions") + tnet("", ']'), '}') +
                        text("response") + tnet(text("answers") + tnet("", ']'), '}');
  return tnet(has_type_first ? type + messages : messages + type, '}');
}

TEST_F(ImportMitmproxy, SkipsFlowsOfDnsWhoseMessagesAreOthers) {
  ASSERT_EQ(import(flow(text("x")) + dns_flow(true) + dns_flow(false) + flow(text("y"))), "");
  EXPECT_EQ(sink.exchanges.size(), 2U);
  EXPECT_EQ(report.not_http, 2U);
}

TEST_F(ImportMitmproxy, GoesOnAtTheNextFlowWhenToldSo) {
  auto const good = flow(text("x"));
  for (auto const& [from, to] :
       {std::pair("3:443#", "3:4a3#"), std::pair("7:headers,", "7:hfaders,"),
        std::pair("7:request,", "7:rfquest,"), std::pair("7:request,", "9:request,"),
        std::pair("4:http;", "4:htup;")}) {
    SCOPED_TRACE(to);
    auto broken = good;
    broken.replace(broken.find(from), std::string_view(from).size(), to);
    EXPECT_THAT(import(good + broken + good), HasSubstr("flow 2 "));
    EXPECT_EQ(sink.exchanges.size(), 1U);
    EXPECT_THAT(import(good + broken + good, true), HasSubstr("flow 2 "));
    EXPECT_EQ(sink.exchanges.size(), 2U);
    EXPECT_EQ(report.damaged, 1U);
    EXPECT_THAT(report.remarks, testing::IsEmpty());
    EXPECT_THAT(import(good + broken, true), HasSubstr("flow 2 "));
    EXPECT_EQ(sink.exchanges.size(), 1U);
    EXPECT_EQ(report.damaged, 1U);
  }
}

TEST_F(ImportMitmproxy, SaysThatTheRestIsNotReadAfterAFlowWithoutALength) {
  auto const good = flow(text("x"));
  EXPECT_THAT(import(good + "9x" + good, true), HasSubstr("flow 2 at byte"));
  EXPECT_EQ(sink.exchanges.size(), 1U);
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("the rest of the flows is not read")));
}

TEST_F(ImportMitmproxy, SaysThatTheRestIsNotReadAfterALengthBeyondTheEndOfTheFile) {
  auto const good = flow(text("x"));
  auto broken = good;
  broken.replace(0, broken.find(':'), "99999");
  EXPECT_THAT(import(good + broken + good + good, true), HasSubstr("flow 2 at byte"));
  EXPECT_EQ(sink.exchanges.size(), 1U);
  EXPECT_EQ(report.damaged, 1U);
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("the rest of the flows is not read")));
  EXPECT_THAT(import(good + good.substr(0, 50), true), HasSubstr("flow 2 at byte"));
  EXPECT_EQ(sink.exchanges.size(), 1U);
  EXPECT_THAT(report.remarks, testing::IsEmpty()) << "nothing follows the flow that is cut";
}

}  // namespace
}  // namespace reprise::importing
