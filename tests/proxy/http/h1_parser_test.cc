#include "base/http/h1_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "proxy/http/h1_writer.h"
#include "tests/test_seed.h"

namespace reprise {

void PrintTo(const HeaderView& field, std::ostream* out) {
  *out << field.name << ": " << field.value;
}
bool operator==(const HeaderView& a, const HeaderView& b) {
  return a.name == b.name && a.value == b.value;
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = BodyFraming::Kind;

/// A head that owns its text and what was parsed from it.
struct ParsedRequest {
  explicit ParsedRequest(std::string head) : text(std::move(head)) {
    line = parse_request_head(text, fields);
  }
  std::string text;
  std::vector<HeaderView> fields;
  Result<RequestLine> line;
};

struct ParsedResponse {
  explicit ParsedResponse(std::string text_of_head) : text(std::move(text_of_head)) {
    head = parse_response_head(text, fields);
  }
  std::string text;
  std::vector<HeaderView> fields;
  Result<ResponseHead> head;
};

BodyFraming::Kind kind_of(std::string head, std::string_view method = "GET") {
  ParsedResponse const parsed(std::move(head));
  return response_framing(method, parsed.head.value()).value().kind;
}

std::error_code request_framing_error(std::string head) {
  ParsedRequest const parsed(std::move(head));
  auto const framing = request_framing(parsed.line.value().version, parsed.fields);
  return framing ? std::error_code() : framing.error();
}

TEST(FindHeadEnd, FindsTheEmptyLineHoweverTheBytesArrive) {
  std::string const head = "GET / HTTP/1.1\r\nA: b\r\n\r\nrest";
  for (std::size_t split = 0; split <= head.size(); ++split) {
    std::size_t scanned = 0;
    auto end = find_head_end(std::string_view(head).substr(0, split), scanned);
    if (!end) end = find_head_end(head, scanned);
    EXPECT_EQ(end, head.size() - 4) << "split at " << split;
  }
}

TEST(FindHeadEnd, TakesBareLineFeeds) {
  std::size_t scanned = 0;
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\nA: b\n\nx", scanned), 21U);
}

TEST(RequestHead, KeepsOrderCaseAndDuplicates) {
  ParsedRequest const parsed("GET /a?b HTTP/1.1\r\nhOsT: x\r\nA:1\r\na: \t2 \r\nEmpty:\r\n\r\n");
  ASSERT_TRUE(parsed.line);
  EXPECT_EQ(parsed.line->target, "/a?b");
  EXPECT_THAT(parsed.fields, ElementsAre(HeaderView{"hOsT", "x"}, HeaderView{"A", "1"},
                                         HeaderView{"a", "2"}, HeaderView{"Empty", ""}));
}

TEST(RequestHead, RefusesFoldedLines) {
  EXPECT_EQ(ParsedRequest("GET / HTTP/1.1\r\nA: one\r\n  two: x\r\n\r\n").line.error(),
            h1_errc::bad_header);
}

TEST(RequestHead, RefusesWhatIsNotARequest) {
  EXPECT_EQ(ParsedRequest("hello\r\n\r\n").line.error(), h1_errc::not_http);
  EXPECT_EQ(ParsedRequest("GET /\r\n\r\n").line.error(), h1_errc::not_http);
  EXPECT_EQ(ParsedRequest("GET / a HTTP/1.1\r\n\r\n").line.error(), h1_errc::not_http);
  EXPECT_EQ(ParsedRequest("G(T / HTTP/1.1\r\n\r\n").line.error(), h1_errc::not_http);
  EXPECT_EQ(ParsedRequest("GET / HTTP/3.0\r\n\r\n").line.error(), h1_errc::unsupported_version);
  EXPECT_EQ(ParsedRequest("GET / HTTP/1.1\r\nA : b\r\n\r\n").line.error(), h1_errc::bad_header);
  EXPECT_EQ(ParsedRequest("GET / HTTP/1.1\r\nno colon\r\n\r\n").line.error(), h1_errc::bad_header);
  EXPECT_EQ(ParsedRequest(std::string("GET / HTTP/1.1\r\nA: \0\r\n\r\n", 24)).line.error(),
            h1_errc::bad_header);
}

TEST(RequestHead, RefusesTooManyFields) {
  std::string head = "GET / HTTP/1.1\r\n";
  for (std::size_t i = 0; i <= kHeadFieldsMax; ++i) head += "a: b\r\n";
  EXPECT_EQ(ParsedRequest(head + "\r\n").line.error(), h1_errc::head_too_long);
}

TEST(ResponseHead, NeedsNoReason) {
  ParsedResponse const no_reason("HTTP/1.1 200\r\n\r\n");
  ASSERT_TRUE(no_reason.head);
  EXPECT_EQ(no_reason.head->status, 200);
  EXPECT_EQ(no_reason.head->reason, "");
}

TEST(ResponseHead, RefusesWhatIsNoField) {
  for (const char* field : {"A : b", "stray line", " folded: 1", "A: b\rC: d", "A: b\r\n c", ": b",
                            "a b: c", "\xe9: c"}) {
    auto const head = ParsedResponse("HTTP/1.1 200 OK\r\n" + std::string(field) + "\r\n\r\n").head;
    EXPECT_EQ(head.error(), h1_errc::bad_header) << field;
  }
}

TEST(ResponseHead, RefusesWhatIsNoStatusLine) {
  for (const char* head : {"ICY 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000\r\n\r\n",
                           "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n",
                           "HTTP/1.1 200 a\rb\r\n\r\n", "\r\n\r\n"}) {
    EXPECT_FALSE(ParsedResponse(head).head) << head;
  }
}

TEST(ResponseHead, IsWrittenAsItWasRead) {
  for (const char* text :
       {"HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nset-cookie: b\r\nX: \r\n\r\n", "HTTP/1.1 200 \r\n\r\n",
        "HTTP/1.0 302 Moved Temporarily\r\nLocation: /\r\n\r\n"}) {
    ParsedResponse const parsed(text);
    EXPECT_EQ(response_head_text(*parsed.head), text);
  }
}

TEST(ResponseFraming, FollowsRfc9112Section63) {
  EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), Kind::kLength);
  EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD"), Kind::kNone);
  EXPECT_EQ(kind_of("HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n"), Kind::kNone);
  EXPECT_EQ(kind_of("HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n"), Kind::kNone);
  EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"), Kind::kChunked);
  EXPECT_EQ(kind_of("HTTP/1.1 200 OK\r\n\r\n"), Kind::kUntilClose);
}

TEST(ResponseFraming, RefusesWhatTwoParsersCouldReadTwoWays) {
  for (const char* fields :
       {"Content-Length: 5, 5", "Content-Length: 5\r\nContent-Length: 5", "Content-Length: -1",
        "Content-Length: ", "Content-Length: 9223372036854775808", "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 9"}) {
    ParsedResponse const parsed("HTTP/1.1 200 OK\r\n" + std::string(fields) + "\r\n\r\n");
    EXPECT_EQ(response_framing("GET", parsed.head.value()).error(), h1_errc::bad_framing) << fields;
  }
  ParsedResponse const old("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(response_framing("GET", old.head.value()).error(), h1_errc::bad_framing);
}

TEST(RequestFraming, RefusesWhatTwoParsersCouldReadTwoWays) {
  auto const post = [](std::string fields) {
    return request_framing_error("POST / HTTP/1.1\r\n" + fields + "\r\n");
  };
  EXPECT_FALSE(post("Content-Length: 3\r\n"));
  EXPECT_FALSE(post("Transfer-Encoding: chunked\r\n"));
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), h1_errc::bad_framing);
  EXPECT_EQ(post("Content-Length: 3\r\nContent-Length: 4\r\n"), h1_errc::bad_framing);
  EXPECT_EQ(post("Content-Length: +3\r\n"), h1_errc::bad_framing);
  EXPECT_EQ(post("Content-Length: 3,\r\nContent-Length: \r\n"), h1_errc::bad_framing);
  EXPECT_EQ(post("Content-Length: 99999999999999999999\r\n"), h1_errc::bad_framing);
  EXPECT_EQ(post("Content-Length: 5, 5\r\n"), h1_errc::bad_framing);
  EXPECT_EQ(post("Transfer-Encoding: chunked, identity\r\n"), h1_errc::bad_framing);
  EXPECT_EQ(post("Transfer-Encoding: identity, chunked\r\n"), h1_errc::bad_framing);
  EXPECT_EQ(post("Transfer-Encoding: xchunked\r\nTransfer-Encoding: chunked\r\n"),
            h1_errc::bad_framing);
}

TEST(Authority, IsParsedStrictly) {
  EXPECT_EQ(parse_authority("WWW.a.Test", 80)->host, "www.a.test");
  EXPECT_EQ(parse_authority("a.test", 80)->port, 80);
  EXPECT_EQ(parse_authority("a.test:", 80)->port, 80);
  EXPECT_EQ(parse_authority("a.test:8443", 443)->port, 8443);
  EXPECT_EQ(parse_authority("[2001:db8::1]:8443", 443)->host, "2001:db8::1");
  for (const char* bad : {"", ":80", "a b", "a/b", "user@a", "a:0", "a:99999", "a:80x", "[::1",
                          "[::1]80", "2001:db8::1"}) {
    EXPECT_FALSE(parse_authority(bad, 80)) << bad;
  }
}

/// Decodes `coded`, given in pieces of `step` bytes; nullopt when the decoder refused it.
struct Decoded {
  std::string content;
  std::size_t used = 0;
  bool done = false;
  std::vector<std::pair<std::string, std::string>> trailers;
};
std::optional<Decoded> decode(std::string_view coded, std::size_t step) {
  Decoded decoded;
  ChunkedDecoder decoder;
  while (decoded.used < coded.size() && !decoder.done()) {
    auto piece = coded.substr(decoded.used, step);
    while (!piece.empty() && !decoder.done()) {
      auto const result = decoder.next(bytes_of(piece));
      if (!result) return std::nullopt;
      decoded.content += text_of(result->data);
      decoded.used += result->consumed;
      piece.remove_prefix(result->consumed);
    }
  }
  decoded.done = decoder.done();
  for (const HeaderView& field : decoder.trailers()) {
    decoded.trailers.emplace_back(field.name, field.value);
  }
  return decoded;
}

TEST(ChunkedDecoder, GivesTheSameContentHoweverTheBytesArrive) {
  std::string const coded =
      "5;ext=1\r\nhello\r\n00006 \r\n world\r\n0\r\nX-Sum: 1\r\nx-sum:2\r\n\r\nNEXT";
  for (std::size_t step = 1; step <= coded.size(); ++step) {
    auto const decoded = decode(coded, step);
    ASSERT_TRUE(decoded) << step;
    EXPECT_TRUE(decoded->done);
    EXPECT_EQ(decoded->content, "hello world");
    EXPECT_EQ(decoded->used, coded.size() - 4);
    EXPECT_THAT(decoded->trailers, ElementsAre(std::pair("X-Sum", "1"), std::pair("x-sum", "2")));
  }
}

TEST(ChunkedDecoder, TellsTheEndWithTheLastPiece) {
  ChunkedDecoder decoder;
  auto const step = decoder.next(bytes_of("3\r\nabc\r\n0\r\n\r\n"));
  ASSERT_TRUE(step);
  EXPECT_EQ(text_of(step->data), "abc");
  EXPECT_TRUE(decoder.done());
}

TEST(ChunkedDecoder, IsNotDoneWhenTheCodingIsCutAnywhere) {
  std::string const coded = "3\r\nabc\r\n0\r\nT: x\r\n\r\n";
  for (std::size_t size = 0; size < coded.size(); ++size) {
    auto const decoded = decode(std::string_view(coded).substr(0, size), 4096);
    ASSERT_TRUE(decoded);
    EXPECT_FALSE(decoded->done) << size;
  }
}

TEST(ChunkedDecoder, IsNotDoneWhenTheTrailersAreMalformed) {
  EXPECT_FALSE(decode("0\r\nbad name: x\r\n\r\n", 4096));
  ChunkedDecoder decoder;
  std::string_view const coded = "3\r\nabc\r\n0\r\nbad name: x\r\n\r\n";
  auto const step = decoder.next(bytes_of(coded));
  ASSERT_TRUE(step);
  EXPECT_EQ(text_of(step->data), "abc");
  EXPECT_FALSE(decoder.done());
  EXPECT_FALSE(decoder.next(bytes_of(coded.substr(step->consumed))));
}

TEST(ChunkedDecoder, RefusesMalformedSizes) {
  for (const char* coded : {"x\r\n", "-1\r\n", "\r\n", "10000000000000000\r\n", "3\r\nabcd\r\n",
                            "0x3\r\nabc\r\n", ";\r\n"}) {
    EXPECT_FALSE(decode(coded, 64)) << coded;
  }
  EXPECT_FALSE(decode(std::string(5000, '1'), 64));
  EXPECT_FALSE(decode("0\r\n" + std::string(70'000, 'a') + ": b\r\n\r\n", 4096));
}

TEST(ChunkedDecoder, UndoesWhatTheWriterWrites) {
  TestSeed const seed;
  std::mt19937 random(seed.value());
  for (int round = 0; round < 200; ++round) {
    std::string content;
    std::string coded;
    for (auto chunks = random() % 5; chunks > 0; --chunks) {
      std::string const chunk(1 + random() % 3000, static_cast<char>(random()));
      content += chunk;
      coded += chunk_line(chunk.size()) + chunk + "\r\n";
    }
    coded += chunk_tail({});
    auto const decoded = decode(coded, 1 + random() % 2000);
    ASSERT_TRUE(decoded);
    EXPECT_TRUE(decoded->done);
    EXPECT_EQ(decoded->content, content);
    EXPECT_THAT(decoded->trailers, IsEmpty());
  }
}

TEST(KeepsAlive, FollowsVersionAndConnection) {
  std::vector<HeaderView> const close{{"connection", "foo, Close"}};
  std::vector<HeaderView> const keep{{"Connection", "Keep-Alive"}};
  EXPECT_TRUE(keeps_alive(HttpVersion::kHttp11, {}));
  EXPECT_FALSE(keeps_alive(HttpVersion::kHttp11, close));
  EXPECT_FALSE(keeps_alive(HttpVersion::kHttp10, {}));
  EXPECT_TRUE(keeps_alive(HttpVersion::kHttp10, keep));
}

}  // namespace
}  // namespace reprise
