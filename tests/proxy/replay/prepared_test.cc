#include "proxy/replay/response/prepared.h"

#include <gtest/gtest.h>

#include "base/http/h1_parser.h"
#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

/// What stands in the archive, as it is served.
class PreparedTest : public testing::Test {
 protected:
  /// The fields that a client of the only exchange gets, "name: value" a line.
  std::string served(Exchange exchange, std::string_view body = "body") {
    RecordedArchive archive;
    archive.add(std::move(exchange), body);
    Scheduler const scheduler(archive.reader(), {});
    PreparedExchange const prepared(archive.reader(), 0, DateShift({}), scheduler, {}, {}, {});
    auto const& parts = prepared.response()->parts();
    auto const framing = response_framing("GET", parts.head);
    EXPECT_TRUE(framing) << "two parsers could read it two ways";
    if (framing && framing->kind == BodyFraming::Kind::kLength && !prepared.broken()) {
      EXPECT_EQ(framing->length_bytes, parts.body.bytes.size());
    }
    std::string text;
    for (const HeaderView& field : parts.head.headers) {
      text.append(field.name).append(": ").append(field.value).append("\n");
    }
    return text;
  }
  static Exchange with(Headers fields) {
    return RecordedArchive::exchange("GET", "/", std::move(fields));
  }
};

TEST_F(PreparedTest, ALengthIsThatOfWhatIsSent) {
  EXPECT_EQ(served(with({{"Content-Length", "4"}, {"A", "b"}})), "Content-Length: 4\nA: b\n");
  for (const char* length : {"5", "3", "4, 5", "04"}) {
    EXPECT_EQ(served(with({{"Content-Length", length}})), "Content-Length: 4\n") << length;
  }
  EXPECT_EQ(served(with({{"Content-Length", "4, 4"}})), "Content-Length: 4\n");
  EXPECT_EQ(served(with({{"Content-Length", "4"}, {"content-length", "9"}})),
            "Content-Length: 4\n");
  EXPECT_EQ(served(with({{"Content-Length", "-1"}})), "");
  EXPECT_EQ(served(with({{"Content-Length", "-1"}, {"Transfer-Encoding", "chunked"}})),
            "Transfer-Encoding: chunked\n");
}

TEST_F(PreparedTest, ALengthOverHttp2IsThatOfWhatIsSent) {
  auto exchange = with({{"content-length", "9"}});
  exchange.response.version = HttpVersion::kH2;
  EXPECT_EQ(served(std::move(exchange)), "content-length: 4\n");
}

TEST_F(PreparedTest, WhatWasCutKeepsItsLength) {
  auto cut = with({{"Content-Length", "9"}});
  cut.outcome = Outcome::kCutByOrigin;
  EXPECT_EQ(served(cut), "Content-Length: 9\n");
  auto impossible = with({{"Content-Length", "3"}});
  impossible.outcome = Outcome::kCutByOrigin;
  EXPECT_EQ(served(impossible), "");
}

TEST_F(PreparedTest, FieldsThatNoClientCouldReadAreLeftOut) {
  auto exchange = with({{"X Bad", "1"},
                        {"X-\xe9", "2"},
                        {"", "3"},
                        {"A", "b\r\nContent-Length: 1"},
                        {"Good", "4"},
                        {"Alt-Svc", "h3"}});
  EXPECT_EQ(served(std::move(exchange)), "Good: 4\n");
}

TEST_F(PreparedTest, AnInterimResponseAloneIsNotServed) {
  for (auto const status : std::initializer_list<std::uint16_t>{100, 102, 103, 199}) {
    for (auto const outcome : {Outcome::kComplete, Outcome::kCutByOrigin}) {
      auto exchange = with({});
      exchange.response.status = status;
      exchange.outcome = outcome;
      RecordedArchive archive;
      archive.add(std::move(exchange));
      Scheduler const scheduler(archive.reader(), {});
      PreparedExchange const prepared(archive.reader(), 0, DateShift({}), scheduler, {}, {}, {});
      EXPECT_EQ(prepared.response(), nullptr) << status;
      EXPECT_EQ(prepared.problem(),
                outcome == Outcome::kComplete ? "its record has only an interim response" : "")
          << status;
    }
  }
}

TEST_F(PreparedTest, AReasonIsOneLine) {
  auto exchange = with({});
  exchange.response.reason = "OK\r\nContent-Length: 1";
  RecordedArchive archive;
  archive.add(std::move(exchange), "body");
  Scheduler const scheduler(archive.reader(), {});
  PreparedExchange const prepared(archive.reader(), 0, DateShift({}), scheduler, {}, {}, {});
  EXPECT_EQ(prepared.response()->parts().head.reason, "OK");
}

TEST_F(PreparedTest, ThoseOfInterimHeadsAndTrailersToo) {
  auto exchange = with({{"Transfer-Encoding", "chunked"}});
  exchange.interim.push_back({.status = 103, .headers = {{"X Bad", "1"}, {"Link", "a"}}});
  exchange.response.trailers = {{"X Bad", "1"}, {"Sum", "2"}};
  RecordedArchive archive;
  archive.add(std::move(exchange), "body");
  Scheduler const scheduler(archive.reader(), {});
  PreparedExchange const prepared(archive.reader(), 0, DateShift({}), scheduler, {}, {}, {});
  auto const& parts = prepared.response()->parts();
  ASSERT_EQ(parts.interim.at(0).headers.size(), 1U);
  EXPECT_EQ(parts.interim[0].headers[0].name, "Link");
  ASSERT_EQ(parts.trailers.size(), 1U);
  EXPECT_EQ(parts.trailers[0].name, "Sum");
}

}  // namespace
}  // namespace reprise
