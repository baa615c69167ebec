#include <gmock/gmock.h>

#include "base/coding/error.h"
#include "inject/rewrite.h"
#include "tests/inject/find_place.h"
#include "tests/inject/our_script.h"
#include "tests/inject/sample_page.h"

namespace reprise::inject {
namespace {

const std::vector<coding::Coding> kEach[] = {{},
                                             {coding::Coding::kGzip},
                                             {coding::Coding::kDeflate},
                                             {coding::Coding::kBrotli},
                                             {coding::Coding::kZstd},
                                             {coding::Coding::kGzip, coding::Coding::kBrotli}};

std::string_view name_of(const std::vector<coding::Coding>& codings) {
  if (codings.size() == 2) return "gzip, br";
  if (codings.empty()) return "identity";
  static constexpr std::string_view kNames[] = {"gzip", "deflate", "deflate", "br", "zstd"};
  return kNames[static_cast<std::size_t>(codings[0])];
}

/// A response on its way through a rewriter, and what a client has of it.
class Stream {
 public:
  explicit Stream(const std::vector<coding::Coding>& codings, std::string_view type = "text/html",
                  std::string_view length = "1000")
      : headers_{{.name = "Content-Type", .value = type},
                 {.name = "Content-Encoding", .value = name_of(codings)},
                 {.name = "Digest", .value = "sha-256=x"},
                 {.name = "Content-Length", .value = length}},
        rewriter(script(), 200, headers_.list(), {}),
        origin_(codings, 6),
        client_(codings, {}) {}

  /// The origin sends `plain`.
  void send(std::string_view plain, coding::Until until) {
    coding::Buffer coded;
    origin_.write(bytes_of(plain), until, coded);
    coding::Buffer out;
    EXPECT_TRUE(rewriter.write(coded, until, out));
    EXPECT_TRUE(out.empty() || rewriter.decided());
    EXPECT_TRUE(client_.write(out, received_));
  }

  std::string received() const {
    return {reinterpret_cast<const char*>(received_.data()), received_.size()};
  }

 private:
  Headers headers_;

 public:
  Rewriter rewriter;

 private:
  coding::Encoder origin_;
  coding::Decoder client_;
  coding::Buffer received_;
};

TEST(Rewriter, GivesWhatRewriteGives) {
  auto const page = sample_page(200'000);
  auto expected = page;
  expected.insert(page.find("<title>"), "<script>ours()</script>");
  for (const auto& codings : kEach) {
    for (std::size_t const piece : {std::size_t{97}, std::size_t{5000}, page.size()}) {
      Stream stream(codings);
      for (std::size_t at = 0; at < page.size(); at += piece) {
        bool const last = at + piece >= page.size();
        stream.send(std::string_view(page).substr(at, piece),
                    last ? coding::Until::kEnd : coding::Until::kMore);
      }
      EXPECT_TRUE(stream.received() == expected) << name_of(codings) << piece;
      EXPECT_EQ(stream.rewriter.report().verdict, Verdict::kRewritten);
      if (codings.empty()) {
        EXPECT_EQ(stream.rewriter.report().added_wire_bytes, 23);
      }
    }
  }
}

TEST(Rewriter, HtmlThatComesSlowlyKeepsComing) {
  for (const auto& codings : kEach) {
    for (auto const* const type : {"text/html; charset=utf-8", "text/html"}) {
      Stream stream(codings, type);
      stream.send("<!doctype html><ht", coding::Until::kFlush);
      EXPECT_EQ(stream.received(), "");
      EXPECT_FALSE(stream.rewriter.decided());
      stream.send("ml><head>", coding::Until::kFlush);
      EXPECT_EQ(stream.received(), "<!doctype html><html><head><script>ours()</script>");
      stream.send("<title>x</title>", coding::Until::kFlush);
      EXPECT_THAT(stream.received(), testing::EndsWith("</script><title>x</title>"));
      stream.send("<body>", coding::Until::kFlush);
      EXPECT_THAT(stream.received(), testing::EndsWith("<body>"));
      stream.send("", coding::Until::kEnd);
    }
  }
}

TEST(Rewriter, WithoutAFlushTheDeclarationIsWaitedFor) {
  Stream stream({});
  stream.send("<html><head><title>x</title>", coding::Until::kMore);
  EXPECT_FALSE(stream.rewriter.decided());
  stream.send("<meta charset=gbk>", coding::Until::kMore);
  EXPECT_THAT(stream.received(), testing::EndsWith("<meta charset=gbk><script>ours()</script>"));
}

TEST(Rewriter, TheHeadIsAsTrueAsItCanBe) {
  Stream plain({});
  plain.send("<head>", coding::Until::kEnd);
  EXPECT_EQ(find_header(plain.rewriter.headers().list(), "content-length"), "1023");
  EXPECT_EQ(find_header(plain.rewriter.headers().list(), "digest"), std::nullopt);
  Stream coded({coding::Coding::kGzip});
  coded.send("<head>", coding::Until::kEnd);
  EXPECT_EQ(find_header(coded.rewriter.headers().list(), "content-length"), std::nullopt);
  Stream odd({}, "text/html", "9, 9");
  odd.send("<head>", coding::Until::kEnd);
  EXPECT_EQ(find_header(odd.rewriter.headers().list(), "content-length"), std::nullopt);
}

TEST(Rewriter, WhatIsNoDocumentPassesAtOnce) {
  for (const auto& codings : kEach) {
    Stream stream(codings, "text/plain");
    EXPECT_TRUE(stream.rewriter.decided());
    stream.send("<head>", coding::Until::kFlush);
    EXPECT_EQ(stream.received(), "<head>");
    EXPECT_EQ(find_header(stream.rewriter.headers().list(), "digest"), "sha-256=x");
    EXPECT_EQ(stream.rewriter.report().verdict, Verdict::kNoDocument);
  }
}

TEST(Rewriter, SniffsWhatHasNoType) {
  Stream html({}, "");
  html.send("<html><head>", coding::Until::kMore);
  EXPECT_FALSE(html.rewriter.decided());
  html.send(std::string(2000, ' '), coding::Until::kFlush);
  EXPECT_THAT(html.received(), testing::StartsWith("<html><head><script>ours()"));
  Stream text({}, "");
  text.send(std::string(600, 'x'), coding::Until::kFlush);
  EXPECT_EQ(text.received(), std::string(600, 'x'));
  // Who pauses sends messages, which are not to be kept waiting.
  Stream messages({}, "");
  messages.send("{}", coding::Until::kFlush);
  EXPECT_EQ(messages.received(), "{}");
}

TEST(Rewriter, ALyingBodyPassesAsItIs) {
  Headers const headers{{.name = "Content-Type", .value = "text/html"},
                        {.name = "Content-Encoding", .value = "gzip"},
                        {.name = "Content-Length", .value = "6"}};
  Rewriter rewriter(script(), 200, headers.list(), {});
  coding::Buffer out;
  EXPECT_TRUE(rewriter.write(bytes_of("<"), coding::Until::kFlush, out));
  EXPECT_TRUE(out.empty());
  EXPECT_TRUE(rewriter.write(bytes_of("head>"), coding::Until::kEnd, out));
  EXPECT_EQ(out.size(), 6U);
  EXPECT_EQ(rewriter.headers(), headers);
  EXPECT_EQ(rewriter.report().verdict, Verdict::kUndecoded);
  EXPECT_EQ(rewriter.report().error, coding::errc::not_that_coding);
  EXPECT_EQ(rewriter.report().added_wire_bytes, 0);
}

TEST(Rewriter, ABodyThatBreaksLaterComesUpToTheDamageAndIsAnError) {
  Headers const headers{{.name = "Content-Type", .value = "text/html; charset=utf-8"},
                        {.name = "Content-Encoding", .value = "gzip"}};
  Rewriter rewriter(script(), 200, headers.list(), {});
  std::vector const gzip{coding::Coding::kGzip};
  coding::Encoder origin(gzip, 6);
  coding::Buffer coded, out;
  origin.write(bytes_of("<html><head><title>"), coding::Until::kFlush, coded);
  EXPECT_TRUE(rewriter.write(coded, coding::Until::kFlush, out));
  EXPECT_TRUE(rewriter.decided());
  coded.clear();
  origin.write(bytes_of("x</title>"), coding::Until::kFlush, coded);
  coded.push_back(std::byte(7));  // a block of an invalid type
  EXPECT_EQ(rewriter.write(coded, coding::Until::kFlush, out).error(),
            coding::errc::not_that_coding);
  coding::Decoder client(gzip, {});
  coding::Buffer received;
  EXPECT_TRUE(client.write(out, received));
  EXPECT_EQ(reprise::text_of(received), "<html><head><script>ours()</script><title>x</title>");
}

TEST(Rewriter, WhatIsHeldComesOutAsReceivedWhenTheResponseBreaksOff) {
  Headers const headers{{.name = "Content-Type", .value = "text/html"},
                        {.name = "Content-Length", .value = "100"}};
  Rewriter rewriter(script(), 200, headers.list(), {});
  coding::Buffer out;
  EXPECT_TRUE(rewriter.write(bytes_of("<!doctype html><ht"), coding::Until::kFlush, out));
  EXPECT_TRUE(out.empty());
  rewriter.give_up(out);
  EXPECT_EQ(reprise::text_of(out), "<!doctype html><ht");
  EXPECT_TRUE(rewriter.decided());
  EXPECT_EQ(rewriter.headers(), headers);
}

TEST(Rewriter, HoldsNoMoreThanItSays) {
  Stream comment({});
  std::size_t sent = 0;
  while (!comment.rewriter.decided()) {
    comment.send(std::string(1000, ' '), coding::Until::kFlush);
    sent += 1000;
  }
  EXPECT_LE(sent, kSearchBytesMax + 1000);
  EXPECT_EQ(comment.received().size(), sent);
  // Coded bytes that decode to nothing: empty blocks of deflate.
  Headers const headers{{.name = "Content-Type", .value = "text/html"},
                        {.name = "Content-Encoding", .value = "gzip"}};
  Rewriter rewriter(script(), 200, headers.list(), {});
  coding::Encoder origin(std::vector{coding::Coding::kGzip}, 1);
  coding::Buffer coded, out;
  origin.write({}, coding::Until::kFlush, coded);
  coding::Buffer const empty_block{std::byte(0), std::byte(0), std::byte(0), std::byte(0xFF),
                                   std::byte(0xFF)};
  std::size_t total = coded.size();
  EXPECT_TRUE(rewriter.write(coded, coding::Until::kMore, out));
  while (!rewriter.decided()) {
    EXPECT_TRUE(rewriter.write(empty_block, coding::Until::kMore, out));
    total += empty_block.size();
  }
  EXPECT_LE(total, Rewriter::kHeldBytesMax + 100);
  EXPECT_EQ(out.size(), total);
}

}  // namespace
}  // namespace reprise::inject
