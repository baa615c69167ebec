#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

using testing::HasSubstr;

/// The first record of an ARC.
std::string arc_start() {
  std::string const version = "1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n";
  return "filedesc://x.arc 0.0.0.0 20200101000000 text/plain " + std::to_string(version.size()) +
         "\n" + version + "\n";
}

std::string arc_record(const std::string& url, const std::string& length) {
  return url + " 192.0.2.1 20200101000001 text/html " + length + "\n" + kResponse + "\n";
}

class ImportArc : public ImportTest {};

TEST_F(ImportArc, GoesOnAtTheNextMemberOfAnArcWhenToldSo) {
  auto const length = std::to_string(kResponse.size());
  auto const first = arc_record("http://a.test/1", length);
  auto const last = arc_record("http://a.test/3", length);
  auto const longer = std::string(70'000, 'x');
  for (auto const& broken :
       {arc_record("http://a.test/2", "oops"), arc_record("http://a.test/" + longer, length)}) {
    auto const text = gzip(arc_start()) + gzip(first) + gzip(broken) + gzip(last) + gzip(last);
    EXPECT_NE(import(text), "");
    EXPECT_NE(import(text, true), "");
    ASSERT_EQ(sink.exchanges.size(), 3U);
    EXPECT_EQ(url(1), "http://a.test/3");
    EXPECT_EQ(report.damaged, 1U);
    EXPECT_THAT(report.remarks, testing::IsEmpty());
  }
}

TEST_F(ImportArc, ARecordEndsWithItsMember) {
  auto const length = std::to_string(kResponse.size());
  auto const first = arc_record("http://a.test/1", length);
  auto const last = arc_record("http://a.test/3", length);
  // Into the next member, past it, and past the end of the file.
  for (auto const more : {20U, 120U, 90'000U}) {
    auto const broken = arc_record("http://a.test/2", std::to_string(kResponse.size() + more));
    auto const text = gzip(arc_start()) + gzip(first) + gzip(broken) + gzip(last) + gzip(last);
    EXPECT_THAT(import(text), HasSubstr("record 3 at byte"));
    EXPECT_THAT(import(text, true), HasSubstr("its gzip member ends inside the record"));
    ASSERT_EQ(sink.exchanges.size(), 3U);
    EXPECT_EQ(url(0), "http://a.test/1");
    EXPECT_EQ(url(1), "http://a.test/3");
    EXPECT_EQ(report.damaged, 1U);
    EXPECT_THAT(report.remarks, testing::IsEmpty());
  }
}

TEST_F(ImportArc, ReadsAnArcWhoseMembersAreNotRecords) {
  auto const length = std::to_string(kResponse.size());
  auto const rest = arc_record("http://a.test/1", length) + arc_record("http://a.test/2", length);
  auto const middle = rest.size() / 2 + 20;
  ASSERT_EQ(import(gzip(arc_start() + rest.substr(0, 30)) + gzip(rest.substr(30, middle - 30)) +
                   gzip(rest.substr(middle))),
            "");
  ASSERT_EQ(sink.exchanges.size(), 2U);
  EXPECT_EQ(body(0), "body");
  EXPECT_EQ(body(1), "body");
}

TEST_F(ImportArc, SaysThatALengthBeyondTheEndMayContainRecords) {
  auto const length = std::to_string(kResponse.size());
  auto const good = arc_record("http://a.test/1", length);
  auto const text = arc_start() + good + arc_record("http://a.test/2", "90000") + good + good;
  for (auto const& recording : {text, gzip(text)}) {
    EXPECT_THAT(import(recording, true), HasSubstr("the file ends inside the record"));
    EXPECT_EQ(sink.exchanges.size(), 1U);
    EXPECT_EQ(report.damaged, 1U);
    EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("the records after it")));
  }
}

TEST_F(ImportArc, SaysThatTheRestOfAPlainArcIsNotRead) {
  auto const length = std::to_string(kResponse.size());
  auto const good = arc_record("http://a.test/1", length);
  auto const text = arc_start() + good + arc_record("http://a.test/2", "oops") + good;
  EXPECT_THAT(import(text, true), HasSubstr("its first line is malformed"));
  EXPECT_EQ(sink.exchanges.size(), 1U);
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("the rest of the ARC is not read")));
  EXPECT_THAT(import(arc_start() + good + "cut", true), HasSubstr("its first line is malformed"));
  EXPECT_THAT(report.remarks, testing::IsEmpty());
}

TEST_F(ImportArc, ReadsAnArc) {
  auto const arc = arc_start() + "http://a.test/a b 192.0.2.1 20200101000001 text/html " +
                   std::to_string(kResponse.size()) + "\n" + kResponse +
                   "\nhttp://a.test/bare 192.0.2.1 20200101000002 text/html 4\nbody\n" +
                   "\ndns:a.test 192.0.2.1 20200101000002 text/dns 1\nx\n";
  ASSERT_EQ(import(arc), "");
  ASSERT_EQ(sink.exchanges.size(), 2U);
  EXPECT_EQ(url(0), "http://a.test/a%20b");
  EXPECT_EQ(fields(1), "Content-Type: text/html\n");
  EXPECT_EQ(sink.exchanges[1].timings.queued, std::chrono::seconds(1));
  EXPECT_EQ(report.not_http, 1U);
}

}  // namespace
}  // namespace reprise::importing
