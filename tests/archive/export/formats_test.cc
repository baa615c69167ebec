// What the formats look like from outside, and what is said of what they cannot hold.

#include <set>

#include "archive/import/source/whole_gunzip.h"
#include "tests/archive/export/export_fixture.h"
#include "tests/archive/import/import_fixture.h"

namespace reprise::exporting {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Export : public testing::Test {
 protected:
  /// Writes `exchanges` as one session, with one connection, and exports it.
  Exported export_all(Target target, std::vector<Exchange> exchanges, bool gzip = false) {
    EXPECT_TRUE(writer_->begin_session(a_session()));
    EXPECT_TRUE(writer_->add_connection(facts_));
    for (Exchange& exchange : exchanges) add(*writer_, std::move(exchange));
    EXPECT_TRUE(writer_->end_session());
    EXPECT_TRUE(writer_->close());
    writer_.reset();
    reader_ = open_archive(folder_ / "a.reprise");
    auto exported = export_as(*reader_, target, gzip);
    EXPECT_FALSE(exported.fault) << exported.fault->what;
    return exported;
  }
  Exchange an_h2_exchange(std::string_view body) {
    auto exchange = an_exchange(1, "/a?b=<&c");
    exchange.origin_connection_id = 1;
    exchange.request.version = HttpVersion::kH2;
    exchange.request.headers = {{.name = "accept", .value = "*/*"}};
    exchange.response.version = HttpVersion::kH2;
    exchange.response.reason = "";
    exchange.response.body = store(*writer_, body);
    exchange.timings.queued = milliseconds(1);
    return exchange;
  }

  ConnectionFacts facts_{.id = 1,
                         .scheme = Scheme::kHttps,
                         .host = "example.org",
                         .port = 443,
                         .address = "[2001:db8::1]:443",
                         .alpn = "h2",
                         .tls_version = "TLSv1.3",
                         .cipher = "TLS_AES_128_GCM_SHA256",
                         .certificate_names = {"example.org"}};
  ScratchFolder folder_;
  std::unique_ptr<ArchiveWriter> writer_ = create_archive(folder_ / "a.reprise");
  std::unique_ptr<ArchiveReader> reader_;
};

TEST_F(Export, HarHoldsTextAsTextAndTheRestAsBase64) {
  auto const text = export_all(Target::kHar, {an_h2_exchange("a\"é\n")}).text;
  EXPECT_THAT(text, HasSubstr(R"("text":"a\"é\n"})"));
}

TEST_F(Export, HarHoldsBase64WhereABodyIsNoUtf8) {
  auto const text = export_all(Target::kHar, {an_h2_exchange("\xff\xfe")}).text;
  EXPECT_THAT(text, HasSubstr(R"("text":"//4=","encoding":"base64")"));
}

TEST_F(Export, HarSaysWhenAndWhereAndHow) {
  auto exchange = an_h2_exchange("x");
  exchange.timings = {.queued = milliseconds(1),
                      .request_sent = milliseconds(2),
                      .first_byte = std::chrono::nanoseconds(5'000'001),
                      .end = milliseconds(6)};
  auto const text = export_all(Target::kHar, {std::move(exchange)}).text;
  EXPECT_THAT(text, HasSubstr(R"("startedDateTime":"2023-11-14T22:13:20.124456789Z")"));
  EXPECT_THAT(text, HasSubstr(R"("time":5,"timings":{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,)"
                              R"("send":1,"wait":3.000001,"receive":0.999999},)"
                              R"("serverIPAddress":"2001:db8::1","connection":"1")"));
  EXPECT_THAT(text, HasSubstr(R"("httpVersion":"HTTP/2")"));
  EXPECT_THAT(text,
              HasSubstr(R"("queryString":[{"name":"b","value":"<"},{"name":"c","value":""}])"));
}

TEST_F(Export, HarHasKindsOfResourcesInChromesWords) {
  std::vector<Exchange> exchanges;
  for (std::string_view const destination : {"iframe", "serviceworker", "track", "empty", ""}) {
    auto& exchange = exchanges.emplace_back(an_h2_exchange("x"));
    exchange.sequence = exchanges.size();
    exchange.request.headers = {{.name = "sec-fetch-dest", .value = destination}};
    exchange.response.headers = {{.name = "content-type", .value = "font/woff2"}};
  }
  auto const text = export_all(Target::kHar, std::move(exchanges)).text;
  for (std::string_view const type : {"document", "script", "texttrack", "fetch", "font"}) {
    EXPECT_THAT(text, HasSubstr("\"_resourceType\":\"" + std::string(type) + "\""));
  }
}

TEST_F(Export, HarComesBackWithTheTimesOfAConnection) {
  facts_.dns_start = milliseconds(2);
  facts_.connect_start = milliseconds(7);
  facts_.tls_start = milliseconds(30);
  facts_.ready = milliseconds(61);
  auto exchange = an_h2_exchange("x");
  exchange.timings = {.queued = milliseconds(1),
                      .request_sent = milliseconds(62),
                      .first_byte = milliseconds(90),
                      .end = milliseconds(91)};
  import_into(folder_ / "b.reprise", export_all(Target::kHar, {std::move(exchange)}).text);
  auto const back = open_archive(folder_ / "b.reprise")->connections().at(0);
  EXPECT_EQ(back.dns_start, facts_.dns_start);
  EXPECT_EQ(back.connect_start, facts_.connect_start);
  EXPECT_EQ(back.tls_start, facts_.tls_start);
  EXPECT_EQ(back.ready, facts_.ready);
}

TEST_F(Export, HarDecodesAndSaysSo) {
  auto exchange = an_h2_exchange(importing::gzip("plain"));
  exchange.response.headers = {{.name = "content-encoding", .value = "gzip"}};
  auto const exported = export_all(Target::kHar, {std::move(exchange)});
  EXPECT_THAT(exported.text, HasSubstr(R"("size":5,"compression":-20,)"));
  EXPECT_THAT(exported.text, HasSubstr(R"("text":"plain")"));
  EXPECT_EQ(exported.report.count_of(Loss::kDecoded), 1U);
}

TEST_F(Export, ACodedFileUnderACodingComesBackWithoutTheCodingOnly) {
  auto const file = importing::gzip("x");
  auto exchange = an_h2_exchange(importing::gzip(file));
  exchange.response.headers = {{.name = "content-encoding", .value = "gzip"}};
  auto const exported = export_all(Target::kHar, {std::move(exchange)});
  EXPECT_EQ(exported.report.count_of(Loss::kDecoded), 1U);
  import_into(folder_ / "b.reprise", exported.text);
  auto const after = open_archive(folder_ / "b.reprise");
  auto const response = exchanges_of(*after).at(0).response;
  EXPECT_EQ(load(*after, response.body), file);
  EXPECT_FALSE(find_header(response.headers.list(), "content-encoding"));
}

TEST_F(Export, ABodyThatDoesNotDecodeIsWrittenAsItIs) {
  auto exchange = an_h2_exchange("no gzip");
  exchange.response.headers = {{.name = "content-encoding", .value = "gzip"}};
  auto const exported = export_all(Target::kHar, {std::move(exchange)});
  EXPECT_THAT(exported.text, HasSubstr(R"("text":"no gzip")"));
  EXPECT_EQ(exported.report.count_of(Loss::kNotDecoded), 1U);
  import_into(folder_ / "b.reprise", exported.text);
  auto const after = open_archive(folder_ / "b.reprise");
  auto const exchanges = exchanges_of(*after);
  EXPECT_EQ(find_header(exchanges.at(0).response.headers.list(), "content-encoding"), "gzip");
}

TEST_F(Export, WarcWritesHttp2AsHttp1AndNamesIt) {
  auto const text = export_all(Target::kWarc, {an_h2_exchange("body")}).text;
  EXPECT_THAT(text, StartsWith("WARC/1.1\r\nWARC-Type: warcinfo\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nWARC-Target-URI: https://example.org/a?b=<&c\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nWARC-IP-Address: 2001:db8::1\r\nWARC-Protocol: h2\r\n"
                              "WARC-Protocol: tls/1.3\r\n"
                              "WARC-Cipher-Suite: TLS_AES_128_GCM_SHA256\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\n\r\nGET /a?b=<&c HTTP/1.1\r\nHost: example.org\r\n"
                              "accept: */*\r\n\r\n\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nWARC-Date: 2023-11-14T22:13:20.124456789Z\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nWARC-Concurrent-To: <urn:uuid:"));
  EXPECT_THAT(text, HasSubstr("\r\nContent-Length: 21\r\n\r\nHTTP/1.1 200 \r\n\r\nbody\r\n\r\n"));
}

TEST_F(Export, WarcGivesEachRecordAnIdOfItsOwn) {
  auto first = an_h2_exchange("same");
  auto second = first;
  second.sequence = 2;
  auto const text = export_all(Target::kWarc, {std::move(first), std::move(second)}).text;
  std::set<std::string> ids;
  constexpr std::string_view kField = "WARC-Record-ID: ";
  for (auto at = text.find(kField); at != text.npos; at = text.find(kField, at + 1)) {
    ids.insert(text.substr(at + kField.size(), 47));
  }
  EXPECT_EQ(ids.size(), 5U);
}

TEST_F(Export, WarcPutsChunksWhereTheHeadSaysSo) {
  auto exchange = an_exchange(1, "/");
  exchange.response.headers = {{.name = "transfer-encoding", .value = "Chunked"}};
  exchange.response.trailers = {{.name = "T", .value = "1"}};
  exchange.response.body = store(*writer_, "sixteen bytes...");
  auto const text = export_all(Target::kWarc, {std::move(exchange)}).text;
  EXPECT_THAT(text, HasSubstr("\r\n\r\n10\r\nsixteen bytes...\r\n0\r\nT: 1\r\n\r\n\r\n\r\n"));
}

TEST_F(Export, AWarcMayBeCompressedRecordByRecord) {
  auto const text = export_all(Target::kWarc, {an_h2_exchange("body")}, true).text;
  std::size_t members = 0;
  for (auto at = text.find("\x1f\x8b\x08"); at != text.npos;
       at = text.find("\x1f\x8b\x08", at + 1)) {
    ++members;
  }
  EXPECT_EQ(members, 3U);
}

TEST_F(Export, NoFieldOfAStrangerBecomesARecord) {
  auto exchange = an_exchange(1, "/\r\nWARC/1.1");
  exchange.request.headers = {{.name = "A\r\nB", .value = "1"},
                              {.name = "C", .value = "2\r\n\r\nWARC/1.1"}};
  auto const exported = export_all(Target::kWarc, {std::move(exchange)});
  EXPECT_THAT(exported.text, Not(HasSubstr("\n\r\nWARC/1.1\r\nWARC-Type: x")));
  EXPECT_THAT(exported.text, HasSubstr("GET /%0D%0AWARC/1.1 HTTP/1.1\r\nC: 2    WARC/1.1\r\n"));
  EXPECT_EQ(exported.report.count_of(Loss::kText), 2U);
}

TEST_F(Export, NoTlsDetailOfAStrangerBecomesAFieldOfAWarc) {
  facts_.tls_version = "TLSv1.3\r\nWARC-Target-URI: https://bank.test/";
  facts_.cipher = "TLS_AES_128_GCM_SHA256\r\nWARC-IP-Address: 192.0.2.1";
  auto const exported = export_all(Target::kWarc, {an_h2_exchange("body")});
  EXPECT_THAT(exported.text, Not(HasSubstr("bank.test")));
  EXPECT_THAT(exported.text, Not(HasSubstr("192.0.2.1")));
  EXPECT_THAT(exported.text, Not(HasSubstr("WARC-Cipher-Suite")));
  EXPECT_THAT(exported.text, HasSubstr("\r\nWARC-Protocol: h2\r\n"));
  EXPECT_EQ(exported.report.count_of(Loss::kText), 2U);
}

TEST_F(Export, WhatIsLostIsCounted) {
  auto exchange = a_full_exchange(*writer_, 1);
  auto const exported = export_all(Target::kWarc, {exchange, an_exchange(2, "/")});
  auto const& report = exported.report;
  EXPECT_EQ(report.exchanges, 2U);
  EXPECT_EQ(report.count_of(Loss::kInterim), 2U);
  EXPECT_EQ(report.count_of(Loss::kStreams), 1U);
  EXPECT_EQ(report.count_of(Loss::kStartAssumed), 1U);
  EXPECT_EQ(report.count_of(Loss::kTls), 1U);
  EXPECT_EQ(report.count_of(Loss::kConnections), 1U);
  EXPECT_EQ(report.count_of(Loss::kSession), 2U);
}

TEST_F(Export, AWebSocketIsInAHarAndComesBackAndIsCountedElsewhere) {
  ASSERT_TRUE(writer_->begin_session(a_session()));
  auto opening = an_h2_exchange("");
  opening.request.method = "CONNECT";
  opening.request.protocol = kWebSocketProtocol;
  add(*writer_, opening);
  auto const say = [&](MessageSender sender, MessageKind kind, std::string_view text,
                       milliseconds time, bool fin = true) {
    ASSERT_TRUE(writer_->add_message(
        1, {.sender = sender, .kind = kind, .fin = fin, .time = time, .payload = as_bytes(text)}));
  };
  say(MessageSender::kClient, MessageKind::kText, "h\xc3", milliseconds(10), false);
  say(MessageSender::kOrigin, MessageKind::kBinary, std::string_view("\0\1\2", 3),
      milliseconds(20));
  say(MessageSender::kClient, MessageKind::kText, "\xa9", milliseconds(30));
  say(MessageSender::kOrigin, MessageKind::kEnd, "", milliseconds(40));
  ASSERT_TRUE(writer_->end_session());
  ASSERT_TRUE(writer_->close());
  reader_ = open_archive(folder_ / "a.reprise");

  EXPECT_EQ(export_as(*reader_, Target::kWarc).report.count_of(Loss::kMessages), 2U);
  auto const wprgo = export_as(*reader_, Target::kWprgo);
  EXPECT_EQ(wprgo.report.count_of(Loss::kMessages), 2U);
  EXPECT_EQ(wprgo.report.count_of(Loss::kCut), 0U);
  EXPECT_EQ(wprgo.report.exchanges, 0U);
  auto const har = export_as(*reader_, Target::kHar);
  EXPECT_EQ(har.report.count_of(Loss::kMessages), 0U);
  EXPECT_THAT(har.text, HasSubstr(R"("method":"GET","url":"wss://example.org/a?b=)"));
  EXPECT_THAT(har.text, HasSubstr(R"("opcode":2,"data":"AAEC")"));
  EXPECT_THAT(har.text, HasSubstr(R"("_resourceType":"websocket")"));
  auto const warc = export_as(*reader_, Target::kWarc).text;
  import_into(folder_ / "c.reprise", warc);
  auto const of_warc = open_archive(folder_ / "c.reprise");
  EXPECT_NE(exchanges_of(*of_warc).at(0).outcome, Outcome::kComplete) << "its messages are lost";
  import_into(folder_ / "b.reprise", har.text);
  auto const after = open_archive(folder_ / "b.reprise");
  ASSERT_TRUE(opens_web_socket(exchanges_of(*after).at(0)));
  std::vector<std::string> said;
  for (auto const& place : after->messages()) {
    auto const message = after->message(place);
    ASSERT_TRUE(message);
    said.push_back(std::string(to_string(message->sender)) + " " + as_text(message->payload) + " " +
                   std::to_string((message->time.count() + 500) / 1'000'000));
  }
  EXPECT_THAT(said,
              testing::ElementsAre(std::string("origin \0\1\2 20", 13), "client h\xc3\xa9 30"));
}

TEST_F(Export, AnExportThatIsStoppedIsAFault) {
  EXPECT_TRUE(writer_->begin_session(a_session()));
  add(*writer_, an_exchange(1, "/"));
  EXPECT_TRUE(writer_->close());
  writer_.reset();
  auto const reader = open_archive(folder_ / "a.reprise");
  TextOutput out;
  ExportReport report;
  auto const fault =
      export_session(*reader, Target::kHar, {.stop = [] { return true; }}, out, report);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->system, std::errc::operation_canceled);
}

/// The text of a .wprgo with these options.
std::string wprgo(const ArchiveReader& reader, const ExportOptions& options) {
  TextOutput out;
  ExportReport report;
  EXPECT_FALSE(export_session(reader, Target::kWprgo, options, out, report));
  importing::MemoryInput input(out.text);
  return importing::inflated_whole(input).value_or("not one gzip member");
}

TEST_F(Export, WprgoIsTheSameTextWithEveryEffort) {
  auto const size =
      export_all(Target::kWprgo, {an_h2_exchange(std::string(5000, 'x'))}).text.size();
  auto const usual = wprgo(*reader_, {});
  for (auto const effort : {Effort::kHuffman, Effort::kNone}) {
    EXPECT_EQ(wprgo(*reader_, {.effort = effort}), usual);
  }
  EXPECT_LT(size, 1000U);
  TextOutput stored;
  ExportReport report;
  EXPECT_FALSE(export_session(*reader_, Target::kWprgo, {.effort = Effort::kNone}, stored, report));
  EXPECT_GT(stored.text.size(), 5000U);
}

TEST_F(Export, WprgoTakesATimeSeedAndSkipsWhatHasNoResponse) {
  auto failed = an_exchange(2, "/failed");
  failed.outcome = Outcome::kOriginFailed;
  failed.response = {};
  export_all(Target::kWprgo, {an_h2_exchange("body"), std::move(failed)});
  auto const usual = wprgo(*reader_, {});
  EXPECT_THAT(usual, HasSubstr("/failed"));
  EXPECT_THAT(usual, Not(HasSubstr(R"("DeterministicTimeSeedMs":77,)")));
  auto const other = wprgo(*reader_, {.answered_only = true, .time_seed = milliseconds(77)});
  EXPECT_THAT(other, Not(HasSubstr("/failed")));
  EXPECT_THAT(other, HasSubstr(R"("DeterministicTimeSeedMs":77,)"));
  TextOutput out;
  ExportReport report;
  EXPECT_FALSE(export_session(*reader_, Target::kWprgo, {.answered_only = true}, out, report));
  EXPECT_EQ(report.exchanges, 1U);
  EXPECT_EQ(report.count_of(Loss::kUnanswered), 1U);
}

TEST_F(Export, AHostBeyondAsciiIsNotWritten) {
  auto exchange = an_exchange(1, "/");
  exchange.request.host = "b\u00fccher.test";
  export_all(Target::kHar, {std::move(exchange)});
  for (auto const target : {Target::kHar, Target::kWarc, Target::kWprgo}) {
    auto const report = export_as(*reader_, target).report;
    EXPECT_EQ(report.exchanges, 0U);
    EXPECT_EQ(report.count_of(Loss::kUnwritable), 1U);
  }
}

TEST_F(Export, DamageIsAFaultThatNamesTheExchange) {
  auto exchange = an_exchange(1, "/");
  exchange.response.body = store(*writer_, "the body of it");
  EXPECT_TRUE(writer_->begin_session(a_session()));
  add(*writer_, std::move(exchange));
  EXPECT_TRUE(writer_->close());
  writer_.reset();
  auto bytes = read_file(folder_ / "a.reprise");
  bytes[bytes.find("the body")] = 'T';
  write_file(folder_ / "b.reprise", bytes);
  auto const reader = open_archive(folder_ / "b.reprise");
  for (Target const target : {Target::kHar, Target::kWarc, Target::kWprgo}) {
    auto const exported = export_as(*reader, target);
    ASSERT_TRUE(exported.fault);
    EXPECT_THAT(exported.fault->what, HasSubstr("exchange 1 is damaged"));
  }
}

}  // namespace
}  // namespace reprise::exporting
