#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

using testing::HasSubstr;

std::string entry(std::string_view request, std::string_view response) {
  return R"({"SerializedRequest":")" + base64(request) + R"(","SerializedResponse":")" +
         base64(response) + R"(","LastServedSessionId":0})";
}

/// An archive with one URL.
std::string archive(const std::string& entries, const std::string& url = "https://a.test/x") {
  return R"({"Requests":{"a.test":{")" + url + R"(":[)" + entries +
         R"(]}},"Certs":{},"NegotiatedProtocol":{"a.test":"h2"},)"
         R"("DeterministicTimeSeedMs":1500000000000})";
}

constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a.test\r\nAccept-Encoding: \r\n\r\n";

class ImportWprgo : public ImportTest {};

TEST_F(ImportWprgo, KeepsRequestResponseAndTimeOfAnEntry) {
  auto const text = archive(entry(kGet,
                                  "HTTP/2.0 200 OK\r\nConnection: close\r\nB: 1\r\na: 2\r\n"
                                  "\r\nbody"));
  ASSERT_EQ(import(gzip(text)), "");
  ASSERT_EQ(sink.exchanges.size(), 1U);
  auto const& exchange = sink.exchanges[0];
  EXPECT_EQ(url(0), "https://a.test/x");
  EXPECT_EQ(exchange.response.version, HttpVersion::kH2);
  EXPECT_EQ(fields(0), "b: 1\na: 2\n") << "the tool made up the Connection field, and capitals";
  EXPECT_EQ(exchange.request.headers.size(), 0U) << "no Accept-Encoding, and no Host over h2";
  EXPECT_EQ(body(0), "body");
  EXPECT_EQ(exchange.timings.queued, kNoTime) << "the format has no times";
  EXPECT_EQ(sink.sessions[0].started,
            std::chrono::system_clock::time_point(std::chrono::seconds(1'500'000'000)));
}

TEST_F(ImportWprgo, ReadsSeveralGzipMembersAsOneText) {
  auto const text = archive(entry(kGet, kResponse));
  auto const middle = text.size() / 2;
  ASSERT_EQ(import(gzip(text.substr(0, middle)) + gzip(text.substr(middle))), "");
  ASSERT_EQ(sink.exchanges.size(), 1U);
  EXPECT_EQ(body(0), "body");
  EXPECT_EQ(sink.sessions[0].started,
            std::chrono::system_clock::time_point(std::chrono::seconds(1'500'000'000)));
}

TEST_F(ImportWprgo, WithoutAStartItBeginsWithTheEarliestDateOfAResponse) {
  auto const dated = [](const std::string& fields) {
    return entry(kGet, "HTTP/1.1 200 OK\r\n" + fields + "\r\n\r\nDate: not a field");
  };
  auto const start_of = [this](const std::string& text) {
    EXPECT_EQ(import(gzip(text)), "");
    return std::chrono::floor<std::chrono::seconds>(sink.sessions.at(0).started)
        .time_since_epoch()
        .count();
  };
  auto text = archive(dated("Date: Mon, 15 Jun 2020 12:00:09 GMT") + "," +
                      dated("date: Mon, 15 Jun 2020 12:00:05 GMT") + "," +
                      dated("Date: Mon, 15 Jun 2020 11:00:00 GMT\r\nAge: 3607") + "," +
                      dated("Date: Thu, 01 Jan 1970 00:00:00 GMT") + "," + dated("Date: today") +
                      "," + entry(kGet, ""));
  EXPECT_EQ(start_of(text), 1'500'000'000) << "the seed is the start";
  std::string const seed = "1500000000000";
  EXPECT_EQ(start_of(text.replace(text.find(seed), seed.size(), "0")), 1'592'222'405);
  EXPECT_EQ(
      start_of(R"({"Requests":{"a.test":{"https://a.test/x":[)" + entry(kGet, kResponse) + "]}}}"),
      0);
}

TEST_F(ImportWprgo, UndoesChunksAndKeepsTheCoding) {
  auto const coded = gzip("hello");
  ASSERT_EQ(coded.size(), 25U);
  ASSERT_EQ(import(archive(entry(kGet,
                                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                                 "Content-Encoding: gzip\r\n\r\n19\r\n" +
                                     coded + "\r\n0\r\nT: 1\r\n\r\n"))),
            "");
  EXPECT_EQ(body(0), coded);
  EXPECT_EQ(sink.exchanges[0].response.trailers.size(), 1U);
  EXPECT_EQ(report.coded, 1U);
  EXPECT_EQ(report.codings_dropped + report.codings_broken, 0U);
}

TEST_F(ImportWprgo, TakesAnEmptyResponseForARequestThatFailed) {
  ASSERT_EQ(import(archive(entry(kGet, ""))), "");
  EXPECT_EQ(sink.exchanges[0].outcome, Outcome::kOriginFailed);
  EXPECT_EQ(report.failed, 1U);
}

TEST_F(ImportWprgo, KeepsTheOrderOfSeveralAnswers) {
  ASSERT_EQ(import(archive(entry(kGet, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1") + "," +
                           entry(kGet, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"))),
            "");
  EXPECT_EQ(body(0) + body(1), "12");
  EXPECT_LT(sink.exchanges[0].sequence, sink.exchanges[1].sequence);
}

TEST_F(ImportWprgo, FieldNamesCountInAnyCaseAndUnknownOnesAreSkipped) {
  ASSERT_EQ(import(R"({"Metadata":{"a":[1,null]},"requests":{"a.test":{"http://a.test/":[)"
                   R"({"serializedrequest":")" +
                   base64("GET / HTTP/1.1\r\n\r\n") + R"(","SERIALIZEDRESPONSE":")" +
                   base64("HTTP/1.1 204 No Content\r\n\r\n") + R"("}]}}})"),
            "");
  EXPECT_EQ(sink.exchanges.at(0).response.status, 204);
}

TEST_F(ImportWprgo, NamesTheByteWhereAFileIsCut) {
  auto const text = archive(entry(kGet, "HTTP/1.1 200 OK\r\n\r\nbody"));
  EXPECT_THAT(import(text.substr(0, 100)), HasSubstr("at byte 100"));
  EXPECT_THAT(import(gzip(text).substr(0, 80)), HasSubstr("at byte 80 of the file"));
}

TEST_F(ImportWprgo, NamesTheUrlOfAMessageThatIsNone) {
  EXPECT_THAT(import(archive(entry(kGet, "nonsense\r\n\r\n"))), HasSubstr("https://a.test/x"));
  EXPECT_THAT(import(archive(R"({"SerializedRequest":"?"})")), HasSubstr("is not base64"));
}

TEST_F(ImportWprgo, GoesOnBehindABadMessageIfToldTo) {
  auto const good = entry(kGet, kResponse);
  EXPECT_THAT(import(archive(R"({"SerializedRequest":"?"},)" + good), true),
              HasSubstr("is not base64"));
  EXPECT_EQ(report.exchanges, 1U);
  EXPECT_EQ(report.damaged, 1U);
  EXPECT_THAT(import(archive(entry(kGet, "nonsense\r\n\r\n") + "," + good), true),
              HasSubstr("cannot be read"));
  EXPECT_EQ(report.exchanges, 1U);
}

}  // namespace
}  // namespace reprise::importing
