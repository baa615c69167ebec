#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

using testing::HasSubstr;

const std::string kRequest = "POST /x?raw HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\nhi";

class ImportWarc : public ImportTest {};

TEST_F(ImportWarc, PairsRequestAndResponseThatNameEachOther) {
  auto const response = record("response", about("r", "WARC-IP-Address: 192.0.2.1\r\n"), kResponse);
  auto const other = record("response", about("s"), kResponse);
  auto const request = record("request", about("q", "WARC-Concurrent-To: <r>\r\n"), kRequest);
  for (auto const& text : {response + other + request, request + other + response}) {
    ASSERT_EQ(import(text), "");
    ASSERT_EQ(sink.exchanges.size(), 2U);
    auto const& paired =
        sink.exchanges[0].request.method == "POST" ? sink.exchanges[0] : sink.exchanges[1];
    EXPECT_EQ(paired.request.target, "/x?raw") << "as it was sent";
    EXPECT_EQ(sink.body_of(paired.request.body), "hi");
    EXPECT_EQ(paired.timings.queued, SessionTime(0));
    EXPECT_EQ(sink.connections.at(0).address, "192.0.2.1:80");
    EXPECT_EQ(report.requests_alone, 0U);
  }
}

TEST_F(ImportWarc, PairsNeighboursOfTheSameUriThatNameNobody) {
  auto const foreign = record("request", about("q", "", "http://b.test/"),
                              "HEAD / HTTP/1.1\r\nHost: b.test\r\n\r\n");
  ASSERT_EQ(import(foreign + record("request", about("p"), kRequest) +
                   record("response", about("r"), kResponse)),
            "");
  ASSERT_EQ(sink.exchanges.size(), 1U);
  EXPECT_EQ(sink.exchanges[0].request.method, "POST");
  EXPECT_EQ(report.requests_alone, 1U);
}

TEST_F(ImportWarc, AssumesGetForAResponseWithoutRequest) {
  ASSERT_EQ(import(record("response", about("r"), kResponse)), "");
  EXPECT_EQ(sink.exchanges.at(0).request.method, "GET");
  EXPECT_TRUE(sink.exchanges[0].request.headers.empty()) << "what was sent is not known";
}

TEST_F(ImportWarc, UnfoldsAMethodFromTheUrl) {
  ASSERT_EQ(
      import(record("response", about("r", "", "http://a.test/x?y=1&__wb_method=POST&__wb_post=2"),
                    kResponse)),
      "");
  EXPECT_EQ(sink.exchanges.at(0).request.method, "POST");
  EXPECT_EQ(sink.exchanges[0].request.target, "/x?y=1");
  EXPECT_TRUE(sink.exchanges[0].request.body_partial);
}

/// Wherever its pieces end: they have 256 KiB of the file.
TEST_F(ImportWarc, AnInterimResponseIsFollowedByTheFinalOne) {
  std::string const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  for (std::size_t const left : {0, 1, 3, 4, 5, 20}) {
    auto const response = record("response", about("r"), hints + kResponse);
    auto const border = response.find(hints) + hints.size() + left;
    auto const empty = record("resource", about("p"), "").size();
    // Five digits more; four bytes of the buffer are held back.
    std::string const filler((256 << 10) - 4 - border - empty - 5, '.');
    auto const padding = record("resource", about("p"), filler);
    ASSERT_EQ(import(padding + response), "") << left;
    ASSERT_EQ(sink.exchanges.size(), 1U);
    EXPECT_EQ(sink.exchanges[0].response.status, 200) << left;
    EXPECT_EQ(sink.exchanges[0].interim.size(), 1U) << left;
    EXPECT_EQ(body(0), "body") << left;
  }
}

TEST_F(ImportWarc, InterimResponsesAloneAreAFailure) {
  std::string const interim = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n";
  ASSERT_EQ(import(record("response", about("r"), interim)), "");
  auto const& exchange = sink.exchanges.at(0);
  EXPECT_EQ(exchange.outcome, Outcome::kOriginFailed);
  EXPECT_EQ(exchange.response.status, 0);
  EXPECT_EQ(exchange.interim.size(), 2U);
  EXPECT_EQ(report.failed, 1U);
}

TEST_F(ImportWarc, ARevisitsDigestTellsResponsesOfOneSecondApart) {
  auto const one = record("response", about("r", "WARC-Payload-Digest: sha1:ONE\r\n"), kResponse);
  auto const two = record("response", about("s", "WARC-Payload-Digest: sha1:TWO\r\n"),
                          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother");
  auto const revisit = record("revisit",
                              about("v",
                                    "WARC-Refers-To-Target-URI: http://a.test/x\r\n"
                                    "WARC-Refers-To-Date: 2020-01-01T00:00:00.5Z\r\n"
                                    "WARC-Payload-Digest: sha1:TWO\r\n",
                                    "http://b.test/"),
                              "");
  ASSERT_EQ(import(one + two + revisit), "");
  ASSERT_EQ(sink.exchanges.size(), 3U);
  EXPECT_EQ(body(2), "other");
}

TEST_F(ImportWarc, HoldsABoundedAmountOfRevisits) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  while (head.size() < 900'000) head += "a:\r\n";
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += record("revisit", about("v" + std::to_string(i), "WARC-Payload-Digest: sha1:D\r\n"),
                   head + "\r\n");
  }
  Importer importer(sink, false);
  EXPECT_EQ(read(importer, text), "");
  EXPECT_GT(sink.exchanges.size(), 5U) << "before the end of the import";
}

TEST_F(ImportWarc, ResolvesARevisitByPlaceAndByDigestAlsoBeforeItsOriginal) {
  auto const original =
      record("response", about("r", "WARC-Payload-Digest: sha1:D\r\n"), kResponse);
  auto const by_place = record("revisit",
                               about("v",
                                     "WARC-Refers-To-Target-URI: http://a.test/x\r\n"
                                     "WARC-Refers-To-Date: 2020-01-01T00:00:00.5Z\r\n",
                                     "http://b.test/"),
                               "HTTP/1.1 203 Other\r\nA: 1\r\n\r\n");
  auto const by_digest =
      record("revisit", about("w", "WARC-Payload-Digest: sha1:D\r\n", "http://c.test/"), "");
  ASSERT_EQ(import(by_place + original + by_digest), "");
  ASSERT_EQ(sink.exchanges.size(), 3U);
  EXPECT_EQ(report.revisits, 2U);
  EXPECT_EQ(report.revisits_resolved, 2U);
  EXPECT_EQ(body(0) + body(1) + body(2), "bodybodybody");
  EXPECT_EQ(sink.exchanges[0].response.status, 203);
  EXPECT_EQ(sink.exchanges[2].response.status, 200) << "the head is the original's";
}

TEST_F(ImportWarc, CutsARevisitWhereItsOriginalIsCut) {
  auto const original =
      record("response", about("r", "WARC-Payload-Digest: sha1:D\r\nWARC-Truncated: length\r\n"),
             "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbody");
  auto const revisit =
      record("revisit", about("v", "WARC-Payload-Digest: sha1:D\r\n", "http://b.test/"),
             "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  for (auto const& text : {original + revisit, revisit + original}) {
    ASSERT_EQ(import(text), "");
    ASSERT_EQ(sink.exchanges.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(sink.exchanges[i].outcome, Outcome::kCutByClient);
      EXPECT_THAT(sink.exchanges[i].failure, HasSubstr("length"));
      EXPECT_EQ(body(i), "body");
      EXPECT_EQ(fields(i), "Content-Length: 100\n");
    }
    EXPECT_EQ(report.incomplete, 2U);
    EXPECT_EQ(report.revisits_resolved, 1U);
  }
}

TEST_F(ImportWarc, FindsTheOriginalOfARevisitInAnotherFile) {
  Importer importer(sink, false);
  auto const digest = "WARC-Payload-Digest: sha1:D\r\n";
  EXPECT_EQ(read(importer, record("revisit", about("v", digest), "")), "");
  EXPECT_EQ(read(importer, record("response", about("r", digest), kResponse)), "");
  ASSERT_FALSE(importer.finish());
  EXPECT_EQ(importer.report().revisits_resolved, 1U);
}

TEST_F(ImportWarc, KeepsARevisitWithoutOriginalAsIncomplete) {
  ASSERT_EQ(import(record("revisit", about("v"), "HTTP/1.1 200 OK\r\n\r\n")), "");
  EXPECT_EQ(report.incomplete, 1U);
}

TEST_F(ImportWarc, LeavesOutACodingThatTheBodyDoesNotHave) {
  std::string const head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
  ASSERT_EQ(
      import(record("response", about("a"), head + gzip("hello")) +
             record("response", about("b"), head + "hello") +
             record("response", about("c"), head + gzip(std::string(999, 'x')).substr(0, 20))),
      "");
  EXPECT_EQ(fields(0), "Content-Encoding: gzip\n");
  EXPECT_EQ(fields(1), "");
  EXPECT_EQ(fields(2), "Content-Encoding: gzip\n");
  EXPECT_EQ(report.codings_dropped, 1U);
  EXPECT_EQ(report.codings_broken, 1U);
}

TEST_F(ImportWarc, LeavesOutACodingThatEndsInTheFirstBytesOfTheBody) {
  std::string const head = "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n";
  ASSERT_EQ(import(record("response", about("a"), head + ";(function () {})();") +
                   record("response", about("b"), head + ";")),
            "");
  EXPECT_EQ(fields(0), "");
  EXPECT_EQ(fields(1), "Content-Encoding: br\n") << "an empty body, coded";
}

TEST_F(ImportWarc, ReadsALimitedNumberOfFields) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  for (std::size_t i = 0; i < kFieldsMax; ++i) head += "a:\r\n";
  ASSERT_EQ(import(record("response", about("r"), head + "\r\nbody")), "");
  EXPECT_THAT(report.remarks, testing::IsEmpty());
  ASSERT_EQ(import(record("response", about("r"), head + "b:\r\n\r\nbody")), "");
  EXPECT_EQ(sink.exchanges.at(0).response.headers.size(), kFieldsMax);
  EXPECT_EQ(body(0), "body");
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("some of their fields are skipped")));
}

TEST_F(ImportWarc, ReadsAMemberARecordAndOneForAll) {
  auto const a = record("response", about("a"), kResponse);
  EXPECT_EQ(import(gzip(a) + gzip(a)), "");
  EXPECT_EQ(report.exchanges, 2U);
  EXPECT_EQ(import(gzip(a + a)), "");
  EXPECT_EQ(report.exchanges, 2U);
}

TEST_F(ImportWarc, KnowsTheProtocolThatABrowserSpoke) {
  ASSERT_EQ(import(record("response", about("a", "WARC-Protocol: h2\r\nWARC-Protocol: tls/1.3\r\n"),
                          kResponse)),
            "");
  EXPECT_EQ(sink.exchanges.at(0).response.version, HttpVersion::kH2);
}

TEST_F(ImportWarc, KeepsWhatWasReadableWhenToldSo) {
  auto const good = record("response", about("a"), kResponse);
  auto const text = good + "garbage\r\n" + good + good.substr(0, good.size() - 6);
  EXPECT_THAT(import(text), HasSubstr("record 2 at byte " + std::to_string(good.size())));
  EXPECT_EQ(report.exchanges, 1U);
  EXPECT_THAT(import(text, true), HasSubstr("record 2 at byte"));
  EXPECT_EQ(report.exchanges, 3U);
  EXPECT_EQ(report.incomplete, 1U) << "the last one is cut";
}

TEST_F(ImportWarc, NamesTheRecordThatIsWrong) {
  EXPECT_THAT(import("WARC/9.9\r\n\r\n"), HasSubstr("record 1 at byte 0: unknown WARC version"));
  EXPECT_THAT(import("WARC/1.0\r\nWARC-Type: response\r\n\r\n"),
              HasSubstr("Content-Length is missing"));
  EXPECT_THAT(import("WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n"),
              HasSubstr("Content-Length is not a number"));
  EXPECT_THAT(import("WARC/1.0\r\nWARC-Type: response\r\n" + about("a") +
                     "Content-Length: 18446744073709551615\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
              HasSubstr("the file ends inside the record"));
}

TEST_F(ImportWarc, NamesWhatARecordsHeadLacks) {
  auto const with = [](const std::string& head) {
    return "WARC/1.0\r\nWARC-Type: response\r\n" + head +
           "Content-Length: " + std::to_string(kResponse.size()) + "\r\n\r\n" + kResponse +
           "\r\n\r\n";
  };
  EXPECT_THAT(import(with("WARC-Date: 2020-01-01T00:00:00Z\r\n")),
              HasSubstr("WARC-Target-URI is missing"));
  EXPECT_THAT(import(with("WARC-Target-URI: http://a.test/\r\nWARC-Date: 2r20\r\n")),
              HasSubstr("WARC-Date is missing or invalid"));
  EXPECT_THAT(import(with(about("a", "WARC-Concurrent-To\r\n"))), HasSubstr("is not a field"));
  EXPECT_THAT(import(with(about("a", std::string("X: \0\r\n", 6)))), HasSubstr("is not a field"));
  auto text = with(about("a", "Content-Type: application/http; msgtype=response\r\n"));
  text.replace(text.find("response"), 8, "rfsponse");
  EXPECT_THAT(import(text), HasSubstr("its type is unknown: rfsponse"));
}

TEST_F(ImportWarc, GoesOnBehindABrokenHeadWhenToldSo) {
  auto broken = record("response", about("b"), kResponse);
  broken.replace(broken.find("Content-Length"), 7, "Content");
  broken[broken.find("WARC-Type")] = ':';
  auto const good = record("response", about("a"), kResponse);
  EXPECT_THAT(import(good + broken + good, true), HasSubstr("record 2 at byte"));
  EXPECT_EQ(report.exchanges, 2U);
  EXPECT_EQ(report.damaged, 1U);
}

TEST_F(ImportWarc, GoesOnAtARecordOfEveryKnownVersion) {
  for (std::string const version : {"0.17", "0.18", "1.0", "1.1"}) {
    auto good = record("response", about("a"), kResponse);
    good.replace(0, good.find('\r'), "WARC/" + version);
    auto broken = good;
    std::string const length = "Content-Length: ";
    broken.insert(broken.find(length) + length.size(), "oops");
    EXPECT_THAT(import(good + broken + "WARC/1.9 is unknown" + good + good, true),
                HasSubstr("record 2 at byte"));
    EXPECT_EQ(report.exchanges, 3U) << version;
    EXPECT_EQ(report.damaged, 1U) << version;
  }
}

TEST_F(ImportWarc, KeepsTheRecordsAfterALineThatIsTooLong) {
  auto const good = record("response", about("a"), kResponse);
  auto const broken =
      record("response", about("b", "X: " + std::string(70'000, 'x') + "\r\n"), kResponse);
  for (auto const& text :
       {good + broken + good + good, gzip(good) + gzip(broken + good + good),
        good + "WARC/1.0" + std::string(70'000, '\r') + "\n" + broken + good + good}) {
    EXPECT_THAT(import(text, true), HasSubstr("a line of more than"));
    EXPECT_EQ(report.exchanges, 3U);
  }
}

TEST_F(ImportWarc, RefusesAResponseThatIsNoneUnlessADigestVouchesForIt) {
  std::string const noise = "HTTP/nonsense\r\n\r\n";
  EXPECT_THAT(import(record("response", about("a"), noise)), HasSubstr("skipped: "));
  ASSERT_EQ(import(record("response", about("a", block_digest(noise)), noise)), "");
  EXPECT_EQ(report.not_http, 1U);
  EXPECT_THAT(report.remarks,
              testing::ElementsAre(HasSubstr("record 1, a response record, skipped")));
}

TEST_F(ImportWarc, GoesOnAtTheNextGzipMemberWhenToldSo) {
  auto const first = gzip(record("response", about("a", "", "http://a.test/1"), kResponse));
  auto const second = gzip(record("response", about("b", "", "http://a.test/2"), kResponse));
  auto flipped = second;
  flipped[second.size() / 2] ^= 1;
  auto const lost = second.substr(0, second.size() / 2);
  for (auto const& broken : {flipped, lost}) {
    EXPECT_THAT(import(first + broken + first), HasSubstr("of the file: "));
    EXPECT_THAT(import(first + broken + first, true), HasSubstr("of the file: "));
    EXPECT_GE(report.damaged, 1U);
    ASSERT_GE(sink.exchanges.size(), 2U);
    EXPECT_EQ(url(0), "http://a.test/1");
    EXPECT_EQ(url(sink.exchanges.size() - 1), "http://a.test/1");
    EXPECT_EQ(sink.exchanges.back().outcome, Outcome::kComplete);
  }
}

/// A record whose Content-Length is larger than its block.
std::string too_long(std::string text, std::size_t by, std::size_t block_bytes) {
  std::string const length = "Content-Length: ";
  auto const stated = length + std::to_string(block_bytes);
  return text.replace(text.find(stated), stated.size(), length + std::to_string(block_bytes + by));
}

TEST_F(ImportWarc, ARecordEndsBeforeTheGzipMemberOfTheNext) {
  auto const good = record("response", about("a", "", "http://a.test/1"), kResponse);
  std::string const long_block = "HTTP/1.1 200 OK\r\n\r\n" + std::string(600'000, 'x');
  for (std::string const& block : {kResponse, long_block}) {
    auto const whole = record("response", about("b", "", "http://a.test/2"), block);
    // Into the next member, past it, and past the end of the file.
    for (std::size_t const more : {20, 400, 9'000'000}) {
      auto const text =
          gzip(good) + gzip(too_long(whole, more, block.size())) + gzip(good) + gzip(good);
      EXPECT_NE(import(text), "");
      EXPECT_THAT(import(text, true), HasSubstr("record 2 at byte")) << more;
      ASSERT_EQ(sink.exchanges.size(), 4U) << more;
      EXPECT_EQ(url(1), "http://a.test/2");
      EXPECT_EQ(sink.exchanges[1].outcome, Outcome::kCutByClient);
      EXPECT_EQ(body(1), block.substr(block.find("\r\n\r\n") + 4));
      EXPECT_EQ(sink.exchanges[3].outcome, Outcome::kComplete);
      EXPECT_EQ(report.damaged, 1U);
    }
  }
}

TEST_F(ImportWarc, ReadsAWarcWhoseMembersAreNotRecords) {
  auto const a = record("response", about("a"), "HTTP/1.1 200 OK\r\n\r\n" + kResponse + kResponse);
  for (auto const at : {1UL, a.find("\r\n\r\n") + 4, a.find("\r\n\r\n") + 30, a.size() - 2}) {
    for (bool const keep_going : {false, true}) {
      EXPECT_EQ(import(gzip(a.substr(0, at)) + gzip(a.substr(at) + a), keep_going), "") << at;
      ASSERT_EQ(sink.exchanges.size(), 2U);
      EXPECT_EQ(body(0), kResponse + kResponse);
    }
  }
}

TEST_F(ImportWarc, ALengthThatIsTooLargeHidesNoRecordOfAPlainWarc) {
  auto const good = record("response", about("a", "", "http://a.test/1"), kResponse);
  std::string const long_block = "HTTP/1.1 200 OK\r\n\r\n" + std::string(600'000, 'x');
  for (std::string const& block : {kResponse, long_block}) {
    auto const digested = record("response", about("c", block_digest(block)), block);
    auto const whole = record("response", about("b"), block);
    for (std::size_t const more : {6, 20, 200, 9'000'000}) {
      auto const text = good + too_long(whole, more, block.size()) + good + good;
      EXPECT_THAT(import(text, true), HasSubstr("the next record begins inside it")) << more;
      ASSERT_EQ(sink.exchanges.size(), 4U) << more;
      EXPECT_EQ(body(1), block.substr(block.find("\r\n\r\n") + 4));
      EXPECT_EQ(sink.exchanges[1].outcome, Outcome::kCutByClient);
      EXPECT_EQ(report.damaged, 1U);
      import(good + too_long(digested, more, block.size()) + good, true);
      ASSERT_EQ(sink.exchanges.size(), 3U) << more;
      EXPECT_EQ(sink.exchanges[1].outcome, Outcome::kComplete) << "its digest proves it";
    }
  }
}

TEST_F(ImportWarc, AWarcInsideARecordIsItsContent) {
  auto const good = record("response", about("a"), kResponse);
  auto const inner = good + good + good;
  auto const outer = record("response", about("b"), "HTTP/1.1 200 OK\r\n\r\n" + inner);
  EXPECT_EQ(import(good + outer + good, true), "");
  ASSERT_EQ(sink.exchanges.size(), 3U);
  EXPECT_EQ(body(1), inner);
  EXPECT_NE(import(good + outer.substr(0, outer.size() - 40), true), "");
  EXPECT_EQ(sink.exchanges.size(), 2U) << "also if the file is cut";
}

TEST_F(ImportWarc, ReadsLinesThatATextModeGaveASecondCarriageReturn) {
  std::string text = "WARC/1.0\r\nWARC-Type: response\r\n" +
                     about("a", "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n") +
                     "Content-Length: 45\r\n\r\nHTTP/1.0 302 \r\nLocation: http://b.test/\r\n\r\n";
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
    text.insert(at, "\r");
  }
  ASSERT_EQ(import(text), "");
  EXPECT_EQ(sink.exchanges.at(0).response.status, 302);
  EXPECT_EQ(fields(0), "Location: http://b.test/\n");
}

TEST_F(ImportWarc, PairsNeighboursOfWhichOneNamesARecordThatIsNotThere) {
  auto const dangling = "WARC-Concurrent-To: <the warcinfo record>\r\n";
  std::string text;
  for (auto const* const uri : {"http://a.test/x", "http://a.test/y"}) {
    text += record("request", about("q", dangling, uri), kRequest) +
            record("response", about(uri, "", uri), kResponse);
  }
  ASSERT_EQ(import(text + record("request", about("q", dangling), kRequest)), "");
  ASSERT_EQ(sink.exchanges.size(), 2U);
  EXPECT_EQ(sink.exchanges[0].request.method, "POST");
  EXPECT_EQ(sink.exchanges[1].request.method, "POST");
  EXPECT_EQ(report.requests_alone, 1U) << "the last one has no neighbour of its URI";
}

}  // namespace
}  // namespace reprise::importing
