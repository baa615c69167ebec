#include "proxy/whatif/reply_changes.h"

#include <gmock/gmock.h>

#include "base/http/digest.h"
#include "tests/proxy/whatif/recorded_site.h"

namespace reprise::whatif {
namespace {

using namespace std::chrono_literals;
using coding::Coding;
using testing::HasSubstr;

const std::string kText = [] {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "line " + std::to_string(i) + " of a style sheet\n";
  return text;
}();

std::string name_of(Coding coding) {
  if (coding == Coding::kBrotli) return "br";
  if (coding == Coding::kZstd) return "zstd";
  return coding == Coding::kGzip ? "gzip" : "deflate";
}

/// A stored response and its body.
struct Stored {
  StoredReply head;
  Reply reply{.stored = head, .body = {}};
};

std::unique_ptr<Stored> stored(std::string_view body, std::vector<HeaderView> fields = {}) {
  auto made = std::make_unique<Stored>();
  auto const length = std::to_string(body.size());
  fields.push_back({.name = "Content-Length", .value = length});
  made->head = {.status = 200, .reason = "OK", .headers = Headers(fields)};
  made->reply.body = buffer_of(body);
  return made;
}

std::unique_ptr<Stored> stored_coded(const std::vector<Coding>& codings) {
  auto const body = coded(kText, codings);
  std::string names;
  for (Coding const each : codings) names += (names.empty() ? "" : ", ") + name_of(each);
  return stored(text_of(body), {{.name = "Content-Encoding", .value = names}});
}

std::string plain_of(const Stored& of) {
  auto const plain = plain_body(of.reply);
  return plain ? std::string(text_of(*plain)) : "error: " + plain.error();
}

bool length_fits(const Stored& of) {
  return field_of(of.head, "content-length") == std::to_string(of.reply.body.size());
}

TEST(ReplyStatus, IsAnEmptyResponseThatAnotherOriginMayRead) {
  auto const of = stored("body", {{.name = "Access-Control-Allow-Origin", .value = "*"},
                                  {.name = "Content-Type", .value = "text/css"},
                                  {.name = "Content-Encoding", .value = "br"},
                                  {.name = "Set-Cookie", .value = "a=b"},
                                  {.name = "Timing-Allow-Origin", .value = "*"},
                                  {.name = "Cache-Control", .value = "max-age=9"}});
  of->head.trailers = {{.name = "X", .value = "y"}};
  EXPECT_EQ(set_status(of->reply, 503), Change(true));
  EXPECT_EQ(of->head.status, 503);
  EXPECT_EQ(of->head.reason, "Service Unavailable");
  EXPECT_TRUE(of->reply.body.empty());
  EXPECT_TRUE(of->head.trailers.empty());
  EXPECT_EQ(field_of(of->head, "access-control-allow-origin"), "*");
  EXPECT_EQ(field_of(of->head, "timing-allow-origin"), "*");
  EXPECT_EQ(field_of(of->head, "content-length"), "0");
  EXPECT_EQ(field_of(of->head, "cache-control"), "no-store");
  for (auto const* const gone : {"content-type", "content-encoding", "set-cookie"}) {
    EXPECT_EQ(field_of(of->head, gone), "-") << gone;
  }
}

TEST(ReplyStatus, Of204HasNoLength) {
  auto const of = stored("body");
  EXPECT_EQ(set_status(of->reply, 204), Change(true));
  EXPECT_EQ(field_of(of->head, "content-length"), "-");
}

TEST(ReplyBody, IsAnotherOneWithoutACoding) {
  auto const of = stored_coded({Coding::kBrotli});
  EXPECT_EQ(set_plain_body(of->reply, "other"), Change(true));
  EXPECT_EQ(plain_of(*of), "other");
  EXPECT_EQ(field_of(of->head, "content-encoding"), "-");
  EXPECT_TRUE(length_fits(*of));
}

TEST(ReplyBody, HasNoLengthIfNoneWasStated) {
  auto const of = stored("body");
  of->head.headers = {{.name = "Transfer-Encoding", .value = "chunked"}};
  EXPECT_EQ(set_plain_body(of->reply, "longer than before"), Change(true));
  EXPECT_EQ(field_of(of->head, "content-length"), "-");
}

TEST(ReplyCompress, ChangesEachCodingToEach) {
  for (Coding const from : {Coding::kGzip, Coding::kDeflate, Coding::kBrotli, Coding::kZstd}) {
    for (Coding const to : {Coding::kGzip, Coding::kBrotli, Coding::kZstd}) {
      auto const of = stored_coded({from});
      EXPECT_EQ(compress(of->reply, to), Change(from != to));
      EXPECT_EQ(plain_of(*of), kText);
      EXPECT_EQ(field_of(of->head, "content-encoding"), name_of(to));
      EXPECT_TRUE(length_fits(*of));
      EXPECT_LT(of->reply.body.size(), kText.size() / 2);
    }
    auto const of = stored_coded({from});
    EXPECT_EQ(compress(of->reply, std::nullopt), Change(true));
    EXPECT_EQ(text_of(of->reply.body), kText);
    EXPECT_EQ(field_of(of->head, "content-encoding"), "-");
    EXPECT_EQ(field_of(of->head, "vary"), "-");
    EXPECT_TRUE(length_fits(*of));
  }
}

TEST(ReplyCompress, TakesOffSeveralCodingsInARow) {
  auto const of = stored_coded({Coding::kGzip, Coding::kBrotli});
  EXPECT_EQ(compress(of->reply, Coding::kBrotli), Change(true));
  EXPECT_EQ(field_of(of->head, "content-encoding"), "br");
  EXPECT_EQ(plain_of(*of), kText);
}

TEST(ReplyCompress, IsSoAlready) {
  auto const plain = stored(kText, {{.name = "Content-Encoding", .value = "identity"}});
  EXPECT_EQ(compress(plain->reply, std::nullopt), Change(false));
  auto const gzip = stored_coded({Coding::kGzip});
  auto const before = gzip->reply.body;
  EXPECT_EQ(compress(gzip->reply, Coding::kGzip), Change(false));
  EXPECT_EQ(gzip->reply.body, before);
}

TEST(ReplyCompress, TellsThatTheResponseVaries) {
  auto const none = stored(kText);
  ASSERT_TRUE(compress(none->reply, Coding::kGzip));
  EXPECT_EQ(field_of(none->head, "vary"), "Accept-Encoding");
  auto const there = stored(kText, {{.name = "vary", .value = "Origin, accept-encoding"}});
  ASSERT_TRUE(compress(there->reply, Coding::kGzip));
  EXPECT_EQ(std::ranges::count_if(
                there->head.headers.list(),
                [](const HeaderView& field) { return equals_ignoring_case(field.name, "vary"); }),
            1);
}

TEST(ReplyCompress, SaysWhyItCannot) {
  auto damaged = stored_coded({Coding::kGzip});
  damaged->reply.body.resize(damaged->reply.body.size() / 2);
  auto const before = damaged->reply.body;
  EXPECT_THAT(compress(damaged->reply, Coding::kBrotli).error(),
              HasSubstr("its body cannot be decoded: "));
  EXPECT_EQ(damaged->reply.body, before);
  EXPECT_EQ(field_of(damaged->head, "content-encoding"), "gzip");
  auto const unknown = stored(kText, {{.name = "Content-Encoding", .value = "dcb"}});
  EXPECT_THAT(compress(unknown->reply, std::nullopt).error(), HasSubstr("cannot be decoded"));
  auto const false_name = stored(kText, {{.name = "Content-Encoding", .value = "br"}});
  EXPECT_FALSE(compress(false_name->reply, std::nullopt));
  auto const bomb = stored(text_of(coded(std::string(20 << 20, 'a'), {Coding::kBrotli})),
                           {{.name = "Content-Encoding", .value = "br"}});
  EXPECT_FALSE(compress(bomb->reply, std::nullopt));
}

TEST(ReplyPlain, IsReplacedInTheSameCodings) {
  for (auto const& codings :
       {std::vector<Coding>{}, {Coding::kGzip}, {Coding::kGzip, Coding::kZstd}}) {
    auto const of = codings.empty() ? stored(kText) : stored_coded(codings);
    auto const coding = field_of(of->head, "content-encoding");
    EXPECT_EQ(replace_plain(of->reply, buffer_of("small")), Change(true));
    EXPECT_EQ(plain_of(*of), "small");
    EXPECT_EQ(field_of(of->head, "content-encoding"), coding);
    EXPECT_TRUE(length_fits(*of));
  }
}

TEST(ReplyPlain, KeepsDeflateWithoutItsFrame) {
  auto const of = stored(text_of(coded(kText, {Coding::kRawDeflate})),
                         {{.name = "Content-Encoding", .value = "deflate"}});
  ASSERT_TRUE(replace_plain(of->reply, buffer_of(kText + "x")));
  std::vector<Coding> codings{Coding::kDeflate};
  ASSERT_TRUE(coding::decode_whole(codings, of->reply.body, {}));
  EXPECT_EQ(codings.front(), Coding::kRawDeflate);
}

TEST(ReplyFields, HaveDigestsOfTheNewBody) {
  auto const of = stored("old", {{.name = "Content-Digest", .value = "sha-256=:AAAA:"},
                                 {.name = "ETag", .value = "\"1\""}});
  ASSERT_TRUE(set_plain_body(of->reply, "new"));
  auto const digest = field_of(of->head, "content-digest");
  EXPECT_NE(digest, "sha-256=:AAAA:");
  EXPECT_EQ(field_of(of->head, "etag"), "\"1\"");
}

TEST(ReplyFields, KeepEachPolicy) {
  auto const of =
      stored("old", {{.name = "Content-Security-Policy", .value = "script-src 'self'"},
                     {.name = "content-security-policy-report-only", .value = "img-src x.test"}});
  ASSERT_TRUE(set_plain_body(of->reply, "new"));
  EXPECT_EQ(field_of(of->head, "content-security-policy"), "script-src 'self'");
  EXPECT_EQ(field_of(of->head, "content-security-policy-report-only"), "img-src x.test");
}

TEST(ReplyCache, ReplacesWhatElseSaysIt) {
  auto const of = stored("x", {{.name = "Cache-Control", .value = "private"},
                               {.name = "cache-control", .value = "no-cache"},
                               {.name = "Expires", .value = "0"},
                               {.name = "Pragma", .value = "no-cache"},
                               {.name = "Age", .value = "100"},
                               {.name = "ETag", .value = "\"1\""}});
  EXPECT_EQ(cache_for(of->reply, 600s), Change(true));
  EXPECT_EQ(of->head.headers.size(), 3);
  EXPECT_EQ(field_of(of->head, "cache-control"), "public, max-age=600, immutable");
  EXPECT_EQ(field_of(of->head, "etag"), "\"1\"");
  EXPECT_EQ(cache_for(of->reply, 0s), Change(true));
  EXPECT_EQ(field_of(of->head, "cache-control"), "no-store");
}

}  // namespace
}  // namespace reprise::whatif
