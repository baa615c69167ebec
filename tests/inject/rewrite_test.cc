#include "inject/rewrite.h"
#include "inject/error.h"

#include <gmock/gmock.h>

#include "base/coding/error.h"
#include "base/http/digest.h"
#include "base/text/base64.h"
#include "tests/inject/find_place.h"
#include "tests/inject/our_script.h"
#include "tests/inject/sample_page.h"

namespace reprise::inject {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string value_of(const Headers& headers, std::string_view name) {
  return std::string(find_header(headers.list(), name).value_or("(none)"));
}

coding::Buffer encode(std::span<const coding::Coding> codings, std::string_view plain) {
  coding::Buffer coded;
  coding::Encoder(codings, 6).write(bytes_of(plain), coding::Until::kEnd, coded);
  return coded;
}

std::string decode(std::span<const coding::Coding> codings, std::span<const std::byte> coded) {
  coding::Decoder decoder(codings, {});
  coding::Buffer plain;
  EXPECT_TRUE(decoder.write(coded, plain));
  EXPECT_TRUE(decoder.finish());
  return text_of(plain);
}

Rewritten rewrite_text(std::initializer_list<HeaderView> headers, std::string_view body) {
  return rewrite(script(), 200, Headers(headers).list(), bytes_of(body), {});
}

constexpr std::string_view kPage =
    "<!doctype html><html><head><title>x</title></head><body>y</body></html>";
constexpr std::string_view kPageAfter =
    "<!doctype html><html><head><script>ours()</script><title>x</title></head><body>y</body>"
    "</html>";

TEST(Rewrite, PutsTheScriptInAndSetsTheLength) {
  auto const done = rewrite_text({{.name = "Server", .value = "s"},
                                  {.name = "content-LENGTH", .value = "71"},
                                  {.name = "ETag", .value = "\"e\""},
                                  {.name = "Content-Type", .value = "text/html;charset=utf-8"}},
                                 kPage);
  EXPECT_EQ(done.report.verdict, Verdict::kRewritten);
  EXPECT_EQ(text_of(done.body), kPageAfter);
  EXPECT_EQ(done.headers, (Headers{{.name = "Server", .value = "s"},
                                   {.name = "content-LENGTH", .value = "94"},
                                   {.name = "ETag", .value = "\"e\""},
                                   {.name = "Content-Type", .value = "text/html;charset=utf-8"}}));
  EXPECT_EQ(done.report.element_bytes, 23U);
  EXPECT_EQ(done.report.added_wire_bytes, 23);
  EXPECT_EQ(done.report.offset_bytes, 27U);
}

TEST(Rewrite, KeepsTheCodingsOfTheBody) {
  struct Case {
    std::string_view name;
    std::vector<coding::Coding> codings;
  };
  for (auto const& [name, codings] : std::initializer_list<Case>{
           {"gzip", {coding::Coding::kGzip}},
           {"deflate", {coding::Coding::kDeflate}},
           {"deflate", {coding::Coding::kRawDeflate}},
           {"br", {coding::Coding::kBrotli}},
           {"zstd", {coding::Coding::kZstd}},
           {"br, gzip", {coding::Coding::kBrotli, coding::Coding::kGzip}}}) {
    Headers const headers{{.name = "Content-Type", .value = "text/html"},
                          {.name = "Content-Encoding", .value = name},
                          {.name = "Content-Length", .value = "1"}};
    auto const body = encode(codings, kPage);
    auto const done = rewrite(script(), 404, headers.list(), body, {});
    ASSERT_EQ(done.report.verdict, Verdict::kRewritten) << name;
    EXPECT_EQ(decode(codings, done.body), kPageAfter) << name;
    EXPECT_EQ(value_of(done.headers, "content-encoding"), name);
    EXPECT_EQ(value_of(done.headers, "content-length"), std::to_string(done.body.size()));
    EXPECT_EQ(done.report.added_wire_bytes,
              static_cast<std::int64_t>(done.body.size()) - static_cast<std::int64_t>(body.size()));
  }
}

TEST(Rewrite, ABodyThatCannotBeDecodedStaysAsItIs) {
  auto const verdict = [](std::string_view coding, std::span<const std::byte> body) {
    Headers const headers{{.name = "Content-Type", .value = "text/html"},
                          {.name = "Content-Encoding", .value = coding}};
    auto const done = rewrite(script(), 200, headers.list(), body, {});
    EXPECT_EQ(done.report.verdict, Verdict::kUndecoded);
    EXPECT_TRUE(done.body.empty());
    EXPECT_TRUE(done.headers.empty());
    return done.report.error;
  };
  EXPECT_EQ(verdict("gzip", bytes_of(kPage)), coding::errc::not_that_coding);
  EXPECT_EQ(verdict("compress", bytes_of(kPage)), coding::errc::unknown_coding);
  coding::Coding const gzip[] = {coding::Coding::kGzip};
  auto const page = encode(gzip, kPage);
  EXPECT_EQ(verdict("gzip", std::span(page).first(10)), coding::errc::truncated);
  EXPECT_EQ(verdict("gzip", encode(gzip, std::string(8 << 20, ' '))), coding::errc::bomb);
  EXPECT_THAT(make_error_code(coding::errc::bomb).message(), HasSubstr("bomb"));
}

TEST(Rewrite, OnlyDocumentsAreRewritten) {
  struct Case {
    std::uint16_t status;
    std::initializer_list<HeaderView> headers;
    bool rewritten;
  };
  constexpr std::string_view kType = "Content-Type";
  for (auto const& [status, headers, rewritten] : std::initializer_list<Case>{
           {200, {{kType, "text/html"}}, true},
           {200, {{kType, "TEXT/HTML ; charset=x"}}, true},
           {403, {{kType, "text/html"}}, true},
           {500, {{kType, "text/html"}}, true},
           {302, {{kType, "text/html"}}, true},
           {302, {{kType, "text/html"}, {"Location", "/"}}, false},
           {206, {{kType, "text/html"}}, false},
           {304, {{kType, "text/html"}}, false},
           {200, {{kType, "text/plain"}}, false},
           {200, {{kType, "text/html, text/plain"}}, false},
           {200, {{kType, "text/html, text/html"}}, true},
           {200, {{kType, "text/html;x=\"a,text/plain\""}}, true},
           {200, {{kType, "text/html;x=\"a\\\",text/plain\""}}, true},
           {200, {{kType, "text/html"}, {kType, "*/*"}}, true},
           {200, {{kType, "text/html, "}, {kType, "nonsense"}}, true},
           {200, {{kType, "text/plain, */*"}}, false},
           {200, {{kType, "application/json"}}, false},
           {200, {{kType, "text/plain"}, {kType, "text/html"}}, true},
           {200, {{kType, "text/html"}, {"Content-Disposition", "ATTACHMENT; filename=x"}}, false},
           {200, {{kType, "text/html"}, {"Content-Disposition", "inline"}}, true},
           {200, {}, true},
           {200, {{kType, "*/*"}}, true},
           {200, {{"X-Content-Type-Options", "nosniff"}}, false},
           {200, {{kType, "application/xml"}}, false},  // not well-formed: <!doctype
       }) {
    auto const done = rewrite(script(), status, Headers(headers).list(), bytes_of(kPage), {});
    EXPECT_EQ(done.report.verdict == Verdict::kRewritten, rewritten)
        << status << ' ' << (headers.size() > 0 ? headers.begin()->value : "");
  }
  EXPECT_EQ(rewrite_text({}, "just text").report.verdict, Verdict::kNoDocument);
  EXPECT_EQ(rewrite_text({}, "  <p>x").report.verdict, Verdict::kRewritten);
  EXPECT_EQ(rewrite_text({}, "<pre>x").report.verdict, Verdict::kNoDocument);
}

TEST(Rewrite, XhtmlAndSvgGetTheirOwnForm) {
  auto const xhtml = rewrite_text({{.name = "Content-Type", .value = "application/xhtml+xml"}},
                                  "<html xmlns=\"x\"><head/></html>");
  EXPECT_EQ(text_of(xhtml.body),
            "<html xmlns=\"x\"><script xmlns=\"http://www.w3.org/1999/xhtml\"><![CDATA[ours()]]>"
            "</script><head/></html>");
  auto const svg =
      rewrite_text({{.name = "Content-Type", .value = "image/svg+xml"}}, "<svg>a</svg>");
  EXPECT_THAT(text_of(svg.body),
              StartsWith("<svg><script xmlns=\"http://www.w3.org/1999/xhtml\">"));
  auto const feed = rewrite_text({{.name = "Content-Type", .value = "text/xml"}}, "<rss>a</rss>");
  EXPECT_EQ(feed.report.verdict, Verdict::kNoPlace);
}

TEST(Rewrite, WritesInTheEncodingOfTheDocument) {
  for (bool const little : {true, false}) {
    auto const page = (little ? "\xFF\xFE" : "\xFE\xFF") + utf16(kPage, little);
    auto const done = rewrite_text({{.name = "Content-Type", .value = "text/html"}}, page);
    EXPECT_EQ(text_of(done.body), (little ? "\xFF\xFE" : "\xFE\xFF") + utf16(kPageAfter, little));
    EXPECT_EQ(done.report.element_bytes, 46U);
  }
}

TEST(Rewrite, LegacyEncodingsKeepEveryByte) {
  for (std::string_view const charset : {"windows-1251", "gb18030", "euc-kr", "shift_jis"}) {
    std::string page = "<html><head><title>";
    for (int c = 0x80; c < 0x100; ++c) page += static_cast<char>(c);
    page += "</title>";
    Headers const headers{
        {.name = "Content-Type", .value = "text/html; charset=" + std::string(charset)}};
    auto const done = rewrite(script(), 200, headers.list(), bytes_of(page), {});
    auto expected = page;
    expected.insert(12, "<script>ours()</script>");
    EXPECT_EQ(text_of(done.body), expected);
    EXPECT_EQ(done.headers, headers);
  }
}

TEST(Rewrite, StatesTheEncodingThatTheScriptWouldHide) {
  constexpr std::string_view kBody = "<head><script>a()</script><meta charset=gbk>";
  for (auto const& [type, stated] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"text/html", "text/html; charset=gbk"},
           {"text/html; charset=nonsense", "text/html; charset=gbk"},
           {"text/html; charset=big5", "text/html; charset=big5"},
           {"text/html; charset=big5, TEXT/HTML", "text/html; charset=big5, TEXT/HTML"},
           {"text/plain; charset=big5, text/html", "text/html; charset=gbk"},
           {"*/*", "text/html; charset=gbk"}}) {
    auto const done = rewrite_text({{.name = "Content-Type", .value = type}}, kBody);
    EXPECT_EQ(value_of(done.headers, "content-type"), stated);
  }
  auto const untyped = rewrite_text({}, kBody);
  EXPECT_EQ(value_of(untyped.headers, "content-type"), "text/html; charset=gbk");
  EXPECT_EQ(untyped.report.charset_stated, "gbk");
}

TEST(Rewrite, PoliciesLetTheScriptRun) {
  auto const hash = hash_source_of("ours()");
  auto const nonce =
      rewrite_text({{.name = "Content-Type", .value = "text/html"},
                    {.name = "Content-Security-Policy", .value = "script-src 'nonce-abc'"},
                    {.name = "Content-Security-Policy-Report-Only", .value = "default-src 'none'"}},
                   kPage);
  EXPECT_THAT(text_of(nonce.body), HasSubstr("<head><script nonce=\"abc\">ours()</script>"));
  EXPECT_EQ(value_of(nonce.headers, "content-security-policy"), "script-src 'nonce-abc'");
  EXPECT_EQ(value_of(nonce.headers, "content-security-policy-report-only"),
            "default-src 'none'; script-src-elem " + hash);
  ASSERT_EQ(nonce.report.policy_changes.size(), 1U);
  EXPECT_TRUE(nonce.report.policy_changes[0].report_only);

  auto const sandbox = rewrite_text({{.name = "Content-Type", .value = "text/html"},
                                     {.name = "Content-Security-Policy", .value = "sandbox"}},
                                    kPage);
  EXPECT_EQ(sandbox.report.verdict, Verdict::kNoScripts);
}

TEST(Rewrite, DigestsAreThoseOfTheNewBody) {
  auto const done = rewrite_text({{.name = "Content-Type", .value = "text/html"},
                                  {.name = "Content-MD5", .value = "x"},
                                  {.name = "Digest", .value = "SHA-256=x, unixsum=3,md5=y"},
                                  {.name = "Repr-Digest", .value = "sha-256=:x:"},
                                  {.name = "Content-Digest", .value = "crc32c=:x:"}},
                                 kPage);
  auto const sha = base64(sha256(done.body));
  // printf '%s' "$page" | openssl md5 -binary | base64
  auto const md5 = value_of(done.headers, "content-md5");
  EXPECT_EQ(md5, "xNFpRm+gD2q+UmKaekUDOg==");
  EXPECT_EQ(value_of(done.headers, "digest"), "SHA-256=" + sha + ", md5=" + md5);
  EXPECT_EQ(value_of(done.headers, "repr-digest"), "sha-256=:" + sha + ":");
  EXPECT_EQ(value_of(done.headers, "content-digest"), "(none)");
}

TEST(Rewrite, AScriptThatCouldEndItselfIsRefused) {
  for (auto const* const text :
       {"a</script>", "'</SCRIPT '", "<!--", "a[b[0]]>1", "\xC3\xA4", "a\r\nb", "a\x7F"}) {
    EXPECT_EQ(InjectedScript::create({.document = {text}, .worker = {}}).error(),
              errc::unfit_script)
        << text;
    EXPECT_EQ(InjectedScript::create({.document = {}, .worker = text}).error(), errc::unfit_script);
  }
  EXPECT_EQ(InjectedScript::create({.document = {std::string(1, '\0')}, .worker = {}}).error(),
            errc::unfit_script);
  EXPECT_TRUE(InjectedScript::create({.document = {"a\n\tb; // </scrip"}, .worker = {}}));
}

TEST(Rewrite, SeveralScriptsAreElementsOfTheirOwn) {
  auto const script =
      *InjectedScript::create({.document = {"first()", "second("}, .worker = "first()"});
  std::vector<HeaderView> const headers{
      {.name = "Content-Type", .value = "text/html; charset=utf-8"},
      {.name = "Content-Security-Policy", .value = "script-src 'self'"}};
  auto const done = rewrite(script, 200, headers, bytes_of("<p>x"), {});
  EXPECT_EQ(text_of(done.body), "<script>first()</script><script>second(</script><p>x");
  EXPECT_EQ(value_of(done.headers, "content-security-policy"),
            "script-src 'self' " + hash_source_of("first()") + ' ' + hash_source_of("second("));
}

TEST(Rewrite, TellsByTheRequestWhatAResponseIsFor) {
  auto const of = [](std::initializer_list<HeaderView> headers) {
    return destination_of(Headers(headers).list());
  };
  for (auto const* const name : {"document", "iframe", "frame", "object", "embed"}) {
    EXPECT_EQ(of({{"Sec-Fetch-Dest", name}, {"Accept", "*/*"}}), Destination::kDocument);
  }
  for (auto const* const name : {"empty", "script", "image", "style", ""}) {
    EXPECT_EQ(of({{"sec-fetch-dest", name}, {"Accept", "text/html"}}), Destination::kData);
  }
  // A service worker fetches a document.
  auto const passed_on = [of](const char* mode, const char* accept) {
    return of({{"Sec-Fetch-Dest", "empty"}, {"Sec-Fetch-Mode", mode}, {"Accept", accept}});
  };
  EXPECT_EQ(passed_on("navigate", "text/html,*/*;q=0.8"), Destination::kDocument);
  EXPECT_EQ(passed_on("same-origin", "text/html,*/*;q=0.8"), Destination::kData);
  EXPECT_EQ(passed_on("navigate", "*/*"), Destination::kData) << "a download";
  EXPECT_EQ(of({{"Sec-Fetch-Dest", "image"}, {"Sec-Fetch-Mode", "navigate"}}), Destination::kData);
  for (auto const* const name : {"worker", "sharedworker", "serviceworker"}) {
    EXPECT_EQ(of({{"Sec-Fetch-Dest", name}, {"Sec-Fetch-Mode", "same-origin"}}),
              Destination::kWorker);
    EXPECT_EQ(of({{"Sec-Fetch-Dest", name}, {"Sec-Fetch-Mode", "cors"}}), Destination::kWorker);
  }
  EXPECT_EQ(of({{"Sec-Fetch-Dest", "audioworklet"}, {"Sec-Fetch-Mode", "cors"}}),
            Destination::kWorker);
  EXPECT_EQ(of({{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"}}), Destination::kDocument);
  EXPECT_EQ(of({{"Accept", "*/*"}}), Destination::kData);
  EXPECT_EQ(of({{"Accept", "text/html, */*; q=0.01"}, {"X-Requested-With", "x"}}),
            Destination::kData);
  EXPECT_EQ(of({}), Destination::kDocument);
}

TEST(Rewrite, DataStaysAsItIs) {
  Headers const headers{{.name = "Content-Type", .value = "text/html"}};
  auto const done = rewrite(script(), 200, headers.list(), bytes_of(kPage),
                            {.destination = Destination::kData, .effort = {}, .limits = {}});
  EXPECT_EQ(done.report.verdict, Verdict::kNoDocument);
}

TEST(Rewrite, AWorkersScriptGetsTheTextInFrontOfIt) {
  struct Case {
    std::string_view marked;  // '@' marks the place
    bool strict = false;
  };
  for (auto const& [marked, strict] :
       std::initializer_list<Case>{{"@work()"},
                                   {"@\xEF\xBB"},
                                   {"\xEF\xBB\xBF@work()"},
                                   {"@'use strict'; work()", true},
                                   {"@ // x\n /* * ' **/\r\"use strict\"", true},
                                   {"\xEF\xBB\xBF@'use strict'", true},
                                   {"#!/bin/x\n@'use strict'", true},
                                   {"\xEF\xBB\xBF#!/bin/x\r@work()"},
                                   {"@#x"},
                                   {"@'use strict\""},
                                   {"@'use strict "},
                                   {"@'use  strict'"},
                                   {"@/ 'use strict'"},
                                   {"@// 'use strict'"},
                                   {"@x; 'use strict'"}}) {
    std::string text(marked);
    text.erase(text.find('@'), 1);
    std::string expected(marked);
    expected.replace(expected.find('@'), 1, strict ? "'use strict';ours()" : "ours()");
    Headers const headers{{.name = "Content-Type", .value = "text/javascript; charset=utf-16"},
                          {.name = "Content-Security-Policy", .value = "script-src 'none'"}};
    RewriteOptions const options{.destination = Destination::kWorker, .effort = {}, .limits = {}};
    auto const done = rewrite(script(), 200, headers.list(), bytes_of(text), options);
    EXPECT_EQ(text_of(done.body), expected);
    EXPECT_EQ(done.headers, headers);
    Rewriter rewriter(script(), 200, headers.list(), options);
    coding::Buffer out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      ASSERT_TRUE(rewriter.write(bytes_of(text).subspan(i, 1), coding::Until::kFlush, out));
    }
    ASSERT_TRUE(rewriter.write({}, coding::Until::kEnd, out));
    EXPECT_EQ(text_of(out), expected);
  }
}

TEST(Rewrite, AWorkersScriptCanHaveAnyTypeOfJavaScript) {
  // Empty: it stays as it is.
  RewriteOptions const options{.destination = Destination::kWorker, .effort = {}, .limits = {}};
  for (auto const& [type, expected] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"text/javascript", "ours()work()"},
           {"Text/X-JavaScript; charset=utf-8", "ours()work()"},
           {"text/jscript", "ours()work()"},
           {"application/x-ecmascript", "ours()work()"},
           {"text/plain", ""},
           {"text/javascript1.6", ""}}) {
    Headers const headers{{.name = "Content-Type", .value = std::string(type)}};
    auto const done = rewrite(script(), 200, headers.list(), bytes_of("work()"), options);
    EXPECT_EQ(text_of(done.body), expected) << type;
  }
}

TEST(Rewrite, ALargePageIsTheSameButForTheScript) {
  auto const page = sample_page(1'000'000);
  auto const done = rewrite_text({{.name = "Content-Type", .value = "text/html"}}, page);
  auto expected = page;
  expected.insert(page.find("<title>"), "<script>ours()</script>");
  EXPECT_TRUE(text_of(done.body) == expected);
}

}  // namespace
}  // namespace reprise::inject
