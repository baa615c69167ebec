// Bodies whose content coding is not as it should be, and which browsers show nevertheless: with
// the script in them, whether they are rewritten as a whole or as they arrive.

#include <gmock/gmock.h>

#include "base/coding/error.h"
#include "inject/rewrite.h"
#include "tests/inject/find_place.h"
#include "tests/inject/our_script.h"
#include "tests/inject/sample_page.h"

namespace reprise::inject {
namespace {

const std::vector kOnlyGzip{coding::Coding::kGzip};

coding::Buffer gzipped(std::string_view plain) {
  coding::Buffer coded;
  coding::Encoder(kOnlyGzip, 6).write(bytes_of(plain), coding::Until::kEnd, coded);
  return coded;
}

struct Shown {
  Verdict verdict;
  std::error_code error;
  std::string plain;  ///< of the rewritten body, without its codings; empty if it is unchanged
};

class OddCodingTest : public testing::Test {
 protected:
  Shown as_a_whole(std::string_view coding, Bytes body) {
    auto const done = rewrite(script(), 200, head(coding).list(), body, {});
    return {done.report.verdict, done.report.error, plain_of(done.headers, done.body)};
  }

  Shown as_it_arrives(std::string_view coding, Bytes body) {
    constexpr std::size_t kPieceBytes = 700;
    auto const headers = head(coding);
    Rewriter rewriter(script(), 200, headers.list(), {});
    coding::Buffer out;
    for (auto rest = body; !rest.empty();) {
      auto const piece = rest.first(std::min(kPieceBytes, rest.size()));
      rest = rest.subspan(piece.size());
      EXPECT_TRUE(rewriter.write(piece, coding::Until::kFlush, out));
    }
    EXPECT_TRUE(rewriter.write({}, coding::Until::kEnd, out));
    auto const& report = rewriter.report();
    if (report.verdict != Verdict::kRewritten) {
      EXPECT_EQ(out, coding::Buffer(body.begin(), body.end()));
      return {report.verdict, report.error, ""};
    }
    return {report.verdict, report.error, plain_of(rewriter.headers(), out)};
  }

  void expect_shown(std::string_view coding, Bytes body, const Shown& expected) {
    for (auto const& shown : {as_a_whole(coding, body), as_it_arrives(coding, body)}) {
      EXPECT_EQ(shown.verdict, expected.verdict) << coding;
      EXPECT_EQ(shown.error, expected.error) << coding;
      EXPECT_TRUE(shown.plain == expected.plain) << coding;
    }
  }

 private:
  static Headers head(std::string_view coding) {
    return Headers{{.name = "Content-Type", .value = "text/html; charset=utf-8"},
                   {.name = "Content-Encoding", .value = coding}};
  }
  static std::string plain_of(const Headers& headers, Bytes body) {
    auto codings = coding::codings_of(headers.list());
    EXPECT_TRUE(codings);
    auto const plain = coding::decode_whole(*codings, body, {});
    EXPECT_TRUE(plain);
    return std::string(reprise::text_of(*plain));
  }
};

std::string with_ours(std::string page) {
  return page.insert(page.find("<title>"), "<script>ours()</script>");
}

TEST_F(OddCodingTest, AGzipTrailerMayBeWrongOrMissing) {
  constexpr std::size_t kTrailerBytes = 8;
  auto const page = sample_page(20'000);
  auto const coded = gzipped(page);
  Shown const expected{Verdict::kRewritten, {}, with_ours(page)};
  for (std::size_t i = 1; i <= kTrailerBytes; ++i) {
    auto wrong = coded;
    wrong[coded.size() - i] ^= std::byte{1};
    expect_shown("gzip", wrong, expected);
    expect_shown("gzip", Bytes(coded).first(coded.size() - i), expected);
  }
}

TEST_F(OddCodingTest, ABodyThatEndsEarlyIsRewrittenAsFarAsItGoes) {
  auto const page = sample_page(200'000);
  auto const coded = gzipped(page);
  auto const part = Bytes(coded).first(coded.size() / 2);
  coding::Buffer plain;
  ASSERT_TRUE(coding::Decoder(kOnlyGzip, {}).write(part, plain));
  auto const so_far = std::string(reprise::text_of(plain));
  expect_shown("gzip", part, {Verdict::kRewritten, coding::errc::truncated, with_ours(so_far)});
  // Nothing can be decoded of this.
  expect_shown("gzip", Bytes(coded).first(10), {Verdict::kUndecoded, coding::errc::truncated, ""});
}

TEST_F(OddCodingTest, AValueThatNamesNoCodingMeansNone) {
  auto const page = sample_page(20'000);
  for (auto const* const coding : {"utf-8", "none"}) {
    expect_shown(coding, bytes_of(page), {Verdict::kRewritten, {}, with_ours(page)});
  }
  expect_shown("compress", bytes_of(page), {Verdict::kUndecoded, coding::errc::unknown_coding, ""});
}

TEST_F(OddCodingTest, AnEmptyBodyStaysEmpty) {
  expect_shown("identity", {}, {Verdict::kNoPlace, {}, ""});
  expect_shown("gzip", {}, {Verdict::kNoPlace, {}, ""});
  expect_shown("gzip", gzipped(""), {Verdict::kNoPlace, {}, ""});
}

}  // namespace
}  // namespace reprise::inject
