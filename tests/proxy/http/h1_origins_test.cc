// Origins as Chromium bears them: proxy/http/ORIGINS.md has the table that this checks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/h1_syntax.h"
#include "proxy/http/fitted_fields.h"
#include "proxy/http/h1_writer.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = BodyFraming::Kind;

/// A head of an origin, which owns its text.
struct OriginHead {
  explicit OriginHead(std::string bytes) : text(std::move(bytes)) {
    head = parse_response_head(text, fields, Tolerance::kAsBrowsers);
  }
  BodyFraming framing(std::string_view method = "GET") const {
    return response_framing(method, head.value(), Tolerance::kAsBrowsers).value();
  }
  std::vector<std::string> lines() const { return lines_of(fields); }
  std::vector<std::string> lines_for_client(std::string_view method = "GET") const {
    FittedFields const fitted(method, head.value(), framing(method));
    return lines_of(fitted.list());
  }
  static std::vector<std::string> lines_of(HeaderList list) {
    std::vector<std::string> lines;
    for (const HeaderView& field : list) {
      lines.push_back(std::string(field.name) + ": " + std::string(field.value));
    }
    return lines;
  }
  std::string text;
  std::vector<HeaderView> fields;
  Result<ResponseHead> head;
};

OriginHead with_line(const std::string& status_line) {
  return OriginHead(status_line + "\r\nA: b\r\n\r\n");
}
OriginHead with_fields(const std::string& fields) {
  return OriginHead("HTTP/1.1 200 OK\r\n" + fields + "\r\n\r\n");
}

TEST(OriginStatusLine, IsReadAsChromiumReadsIt) {
  struct Case {
    const char* line;
    HttpVersion version;
    std::uint16_t status;
    const char* reason;
  };
  constexpr auto kOld = HttpVersion::kHttp10;
  constexpr auto kNew = HttpVersion::kHttp11;
  for (const Case& each : {
           Case{"HTTP/1.1 200 OK", kNew, 200, "OK"},
           Case{"http/1.1 200 OK", kNew, 200, "OK"},
           Case{"HTTP/1.0 200 OK", kOld, 200, "OK"},
           Case{"HTTP/1.2 200 OK", kNew, 200, "OK"},
           Case{"HTTP/2.0 200 OK", kNew, 200, "OK"},
           Case{"HTTP/1.10 200 OK", kNew, 200, "OK"},
           Case{"HTTP/2 200 OK", kOld, 200, "OK"},
           Case{"HTTP/0.9 200 OK", kOld, 200, "OK"},
           Case{"HTTP/x.y 200 OK", kOld, 200, "OK"},
           Case{"HTTP/01.1 200 OK", kOld, 200, "OK"},
           Case{"HTTP 200 OK", kOld, 200, "OK"},
           Case{"HTTP/1. 1 200 OK", kOld, 1, "200 OK"},
           Case{"HTTP/1.1 0200 OK", kNew, 200, "OK"},
           Case{"HTTP/1.1   200   OK ", kNew, 200, "OK"},
           Case{"HTTP/1.1 200OK", kNew, 200, "OK"},
           Case{"HTTP/1.1 20 OK", kNew, 20, "OK"},
           Case{"HTTP/1.1 2000 OK", kNew, 2000, "OK"},
           Case{"HTTP/1.1 999", kNew, 999, ""},
           Case{"HTTP/1.1 abc OK", kNew, 200, ""},
           Case{"HTTP/1.1 -200 OK", kNew, 200, ""},
           Case{"HTTP/1.1 ", kNew, 200, ""},
           Case{"HTTP/1.1", kNew, 200, "OK"},
           Case{"HTTP/1.1\t200 OK", kNew, 200, ""},
           Case{"HTTP/1.1 200 O\rK", kNew, 200, "O"},
           Case{"abcdHTTP/1.1 200 OK", kNew, 200, "OK"},
           Case{"\xef\xbb\xbfHTTP/1.1 200 OK", kNew, 200, "OK"},
       }) {
    SCOPED_TRACE(each.line);
    auto const origin = with_line(each.line);
    ASSERT_TRUE(origin.head);
    EXPECT_EQ(origin.head->version, each.version);
    EXPECT_EQ(origin.head->status, each.status);
    EXPECT_EQ(origin.head->reason, each.reason);
    EXPECT_THAT(origin.lines(), ElementsAre("A: b"));
  }
}

TEST(OriginStatusLine, IsRefusedWhereChromiumRefusesIt) {
  for (const char* line : {"SSH-2.0-x", "abcdeHTTP/1.1 200 OK", "<title>x</title>",
                           "HTTP/1.1 0 none", "HTTP/1.1 99999 OK"}) {
    EXPECT_EQ(with_line(line).head.error(), h1_errc::not_http) << line;
  }
  EXPECT_EQ(with_line(std::string("HTTP/1.1 200 O\0K", 16)).head.error(), h1_errc::bad_header);
}

TEST(OriginFields, AreReadAsChromiumReadsThem) {
  EXPECT_THAT(with_fields("A : b\r\nstray\r\nC:d").lines(), ElementsAre("A: b", "C: d"));
  EXPECT_THAT(with_fields(" A: b\r\nC: d").lines(), ElementsAre("C: d"));
  EXPECT_THAT(with_fields("stray\r\n folded: 1").lines(), IsEmpty());
  EXPECT_THAT(with_fields(": b").lines(), IsEmpty());
  // A carriage return ends a line.
  EXPECT_THAT(with_fields("A: b\rC: d\re").lines(), ElementsAre("A: b", "C: d"));
  EXPECT_THAT(with_fields("X\rA: b").lines(), ElementsAre("A: b"));
  EXPECT_THAT(with_fields("A: b\r").lines(), ElementsAre("A: b"));
  EXPECT_THAT(with_fields("A: one\r\n  two").lines(), ElementsAre("A: one    two"));
  EXPECT_THAT(with_fields("A:\r\n\tb\r c\r\n \r\nD: e").lines(), ElementsAre("A: b  c", "D: e"));
  EXPECT_THAT(OriginHead("HTTP/1.0 404 x\nA: b\nC: d\n\n").lines(), ElementsAre("A: b", "C: d"));
  EXPECT_THAT(with_fields("A: \x01\x7f\xe9").lines(), ElementsAre("A: \x01\x7f\xe9"));
  EXPECT_EQ(with_fields(std::string("A: \0", 4)).head.error(), h1_errc::bad_header);
  EXPECT_EQ(with_fields(std::string("A\0: b", 5)).head.error(), h1_errc::bad_header);
}

TEST(OriginFields, WithNamesThatAreNoTokensAreKeptAndNotSentOn) {
  auto const origin = with_fields("X Bad: 1\r\nX-\xe9: 2\r\nX(a): 3\r\nGood: 4");
  EXPECT_THAT(origin.lines(), ElementsAre("X Bad: 1", "X-\xe9: 2", "X(a): 3", "Good: 4"));
  EXPECT_THAT(origin.lines_for_client(), ElementsAre("Good: 4"));
}

TEST(OriginFields, AreLimitedInNumber) {
  std::string fields;
  for (std::size_t i = 0; i <= kHeadFieldsMax; ++i) fields += "a: b\r\n";
  EXPECT_EQ(with_fields(fields).head.error(), h1_errc::head_too_long);
}

TEST(OriginFraming, IsWhatChromiumMakesOfItAndTheClientIsToldNothingElse) {
  struct Case {
    const char* fields;
    Kind kind;
    std::vector<std::string> for_client;
  };
  std::string const chunked = "Transfer-Encoding: chunked";
  for (const Case& each : {
           Case{"Content-Length: 5", Kind::kLength, {"Content-Length: 5"}},
           Case{"Content-Length: 5, 5", Kind::kLength, {"Content-Length: 5"}},
           Case{"content-length: 5\r\nContent-Length: 5", Kind::kLength, {"content-length: 5"}},
           Case{"Content-Length: 007", Kind::kLength, {"Content-Length: 7"}},
           Case{"Content-Length: 0", Kind::kLength, {"Content-Length: 0"}},
           Case{"Content-Length: -1", Kind::kUntilClose, {}},
           Case{"Content-Length: -1, -1", Kind::kUntilClose, {}},
           Case{"Content-Length: +5", Kind::kUntilClose, {}},
           Case{"Content-Length: 5;", Kind::kUntilClose, {}},
           Case{"Content-Length: 5x", Kind::kUntilClose, {}},
           Case{"Content-Length:", Kind::kUntilClose, {}},
           Case{"Content-Length: 9223372036854775808", Kind::kUntilClose, {}},
           Case{"Transfer-Encoding: gzip, Chunked",
                Kind::kChunked,
                {"Transfer-Encoding: gzip, Chunked"}},
           Case{"Transfer-Encoding: chunked,", Kind::kChunked, {chunked}},
           Case{"Transfer-Encoding: chunked, gzip", Kind::kChunked, {chunked}},
           Case{"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                Kind::kChunked,
                {chunked}},
           Case{"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", Kind::kChunked, {chunked}},
           Case{"Content-Length: -1\r\nTransfer-Encoding: chunked", Kind::kChunked, {chunked}},
           Case{"Content-Length: 1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked",
                Kind::kChunked,
                {chunked}},
           Case{"Transfer-Encoding: chunked; q=1", Kind::kUntilClose, {}},
           Case{"Transfer-Encoding: xchunked", Kind::kUntilClose, {}},
           Case{"Transfer-Encoding: identity\r\nContent-Length: 5",
                Kind::kLength,
                {"Content-Length: 5"}},
           Case{"X: a\rContent-Length: 5", Kind::kLength, {"X: a", "Content-Length: 5"}},
           Case{"Transfer Encoding: chunked\r\nContent-Length : 5",
                Kind::kLength,
                {"Content-Length: 5"}},
       }) {
    SCOPED_TRACE(each.fields);
    auto const origin = with_fields(each.fields);
    EXPECT_EQ(origin.framing().kind, each.kind);
    EXPECT_EQ(origin.lines_for_client(), each.for_client);
  }
}

TEST(OriginFraming, OfAnOldOriginHasNoChunks) {
  OriginHead const origin("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(origin.framing().kind, Kind::kUntilClose);
  EXPECT_THAT(origin.lines_for_client(), IsEmpty());
}

TEST(OriginFraming, IsRefusedWhereLengthsDiffer) {
  for (const char* fields : {"Content-Length: 5, 6", "Content-Length: 5\r\nContent-Length: 6",
                             "Content-Length: -1\r\nContent-Length: 5",
                             "Content-Length: 5\r\nContent-Length:", "Content-Length: 5,",
                             "Content-Length: 5,,5", "Content-Length: 05, 5"}) {
    auto const framing =
        response_framing("GET", with_fields(fields).head.value(), Tolerance::kAsBrowsers);
    EXPECT_EQ(framing.error(), h1_errc::bad_framing) << fields;
  }
}

TEST(FittedFields, KeepWhatAHeadWithoutBodyAnnounces) {
  auto const origin = with_fields("A: b\r\nContent-Length: 5, 5\r\nAlt-Svc: h3");
  EXPECT_THAT(origin.lines_for_client("HEAD"), ElementsAre("A: b", "Content-Length: 5"));
  OriginHead const not_modified("HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n");
  EXPECT_THAT(not_modified.lines_for_client(), ElementsAre("Content-Length: 5"));
  OriginHead const nothing("HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n");
  EXPECT_THAT(nothing.lines_for_client(), IsEmpty());
  OriginHead const hint("HTTP/1.1 103 x\r\nLink: a\r\nContent-Length: 5\r\n\r\n");
  EXPECT_THAT(hint.lines_for_client("HEAD"), ElementsAre("Link: a"));
}

TEST(FittedFields, KeepOffersOfHttp3WhereTheyLeadToTheProxy) {
  auto const origin = with_fields("Alt-Svc: h2=\":1\", h3=\":443\"; ma=60\r\nA: b\r\nAlt-Svc: x");
  FittedFields const kept("GET", *origin.head, {.kind = Kind::kNone},
                          FittedFields::AltSvc::kOnlyH3);
  EXPECT_THAT(OriginHead::lines_of(kept.list()),
              ElementsAre("Alt-Svc: h3=\":443\"; ma=60", "A: b"));
}

TEST(FittedFields, SayTheLengthThatIsSent) {
  auto const origin = with_fields("Content-Length: 5, 6\r\nA: b");
  FittedFields const replaced("GET", *origin.head, {.kind = Kind::kLength, .length_bytes = 9});
  EXPECT_THAT(OriginHead::lines_of(replaced.list()), ElementsAre("Content-Length: 9", "A: b"));
  auto const silent = with_fields("A: b");
  FittedFields const added("GET", *silent.head, {.kind = Kind::kLength, .length_bytes = 9});
  EXPECT_THAT(OriginHead::lines_of(added.list()), ElementsAre("A: b", "Content-Length: 9"));
}

TEST(FittedFields, AreReadOneWayByAStrictParser) {
  for (const char* fields :
       {"Content-Length: -1\r\nTransfer-Encoding: chunked", "a b: c\rTransfer-Encoding: gzip",
        "Content-Length: 5, 5\r\nTransfer-Encoding: identity", "A: b\r\n c\r\nContent-Length: x"}) {
    SCOPED_TRACE(fields);
    auto const origin = with_fields(fields);
    FittedFields const fitted("GET", *origin.head, origin.framing());
    ResponseHead sent = *origin.head;
    sent.headers = fitted.list();
    auto text = response_head_text(sent);
    std::vector<HeaderView> again;
    auto const reread = parse_response_head(text, again);
    ASSERT_TRUE(reread);
    EXPECT_EQ(response_framing("GET", *reread).value().kind, origin.framing().kind);
  }
}

TEST(OriginTrailers, LeaveOutWhatCannotBeSentOn) {
  using namespace std::string_literals;
  auto const coded = "0\r\nX Bad: 1\r\nstray\r\nA: b\rC: d\r\nN: \0\r\n\r\n"s;
  ChunkedDecoder decoder(Tolerance::kAsBrowsers);
  ASSERT_TRUE(decoder.next(bytes_of(coded)));
  ASSERT_TRUE(decoder.done());
  EXPECT_THAT(OriginHead::lines_of(decoder.trailers()), ElementsAre("A: b", "C: d"));
  ChunkedDecoder strict;
  EXPECT_FALSE(strict.next(bytes_of(coded)));
}

}  // namespace
}  // namespace reprise
