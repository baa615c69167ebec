#include "analysis/differences/differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "analysis/differences/content.h"
#include "analysis/differences/permissions.h"
#include "tests/analysis/differences/made_page.h"

namespace reprise {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// "content https://a.test/app.js: line 1: ..."
std::vector<std::string> told(const Differences& differences) {
  std::vector<std::string> lines;
  for (const PageDifference& each : differences.all) {
    lines.push_back(std::string(to_string(each.kind)) + " " + each.where + ": " + each.what);
  }
  return lines;
}

std::string titles(const Differences& differences) {
  std::string text;
  for (const DifferenceGroup& group : differences.groups) text += group.title + "\n";
  return text;
}

std::string body(const MadePage& page, std::string_view url) {
  for (auto const& each : page.page.exchanges) {
    if (each.url() == url) return page.body(each);
  }
  return {};
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  auto const at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), by);
}

const std::string kPage = "https://a.test/";

TEST(Differences, ThereAreNoneInTheSamePage) {
  EXPECT_THAT(told(differences_of(a_page(), a_page())), IsEmpty());
}

TEST(Differences, AStatementThatWasAddedToAScriptIsNamedWithItsLine) {
  auto b = a_page();
  b.set_body("https://a.test/app.js",
             "const limit = 10;\nfunction start() {\n  while (busy()) wait();\n  show(limit);\n}\n"
             "start();\n");
  EXPECT_THAT(told(differences_of(a_page(), b)),
              ElementsAre("content https://a.test/app.js: line 3: added `while (busy()) wait();` "
                          "(88 bytes instead of 63)"));
}

TEST(Differences, AStatementThatChangedIsShownWhole) {
  auto b = a_page();
  b.set_body("https://a.test/app.js", replaced(body(b, "https://a.test/app.js"), "10", "2000"));
  EXPECT_THAT(
      told(differences_of(a_page(), b)),
      ElementsAre(HasSubstr("line 1: `const limit = 2000;` instead of `const limit = 10;`")));
}

TEST(Differences, WhatOnlyMovedWithinALineIsNoOtherStatement) {
  auto b = a_page();
  b.set_body("https://a.test/app.js", "const limit=10; function start() { show(limit); } start();");
  EXPECT_THAT(told(differences_of(a_page(), b)), ElementsAre(HasSubstr(": white space")));
}

TEST(Differences, ElementsOfADocumentAreDifferencesOfTheirOwn) {
  auto b = a_page();
  auto text = replaced(body(b, kPage), "<link rel=preload as=font href=/font.woff2>\n", "");
  text = replaced(text, "<script src=/app.js>", "<script src=/app.js async>");
  b.set_body(kPage, text);
  auto const found = differences_of(a_page(), b);
  EXPECT_THAT(
      told(found),
      ElementsAre("content https://a.test/: line 3 of A: removed `<link rel=preload as=font "
                  "href=/font.woff2>`",
                  "content https://a.test/: line 4: `<script src=/app.js async>` instead of "
                  "`<script src=/app.js>`"));
  EXPECT_EQ(found.groups.size(), 2u);
}

TEST(Differences, ADocumentIsPutTogetherFromBothByElement) {
  auto const a = a_page();
  auto b = a_page();
  auto const old_text = body(a, kPage);
  auto const with_script = replaced(old_text, "\n<p>words", "\n<script>go()</script>\n<p>words");
  auto const text = replaced(with_script, "<h1>Hello</h1>", "<h2>Hello</h2>");
  b.set_body(kPage, text);
  auto const found = differences_of(a, b);
  ASSERT_EQ(found.documents.size(), 1u);
  auto const& edits = found.documents.begin()->second;
  EXPECT_EQ(with_edits(old_text, edits, std::vector<bool>(edits.size(), true)), text);
  EXPECT_EQ(with_edits(old_text, edits, std::vector<bool>(edits.size(), false)), old_text);
  ASSERT_THAT(told(found),
              ElementsAre(HasSubstr("added `<script>go()</script>`"), HasSubstr("<h2>")));
  std::vector<bool> only_script(edits.size());
  for (auto const edit : found.all[0].edits) only_script[edit] = true;
  EXPECT_EQ(with_edits(old_text, edits, only_script), with_script);
}

TEST(Differences, NoncesAreThoseOfA) {
  auto const one = std::string("<script nonce=aaaaaaaaaa>go()</script><p>x");
  auto const other = std::string(
      "<script nonce=bbbbbbbbbb>go()</script><p>x"
      "<script nonce=bbbbbbbbbb src=/new.js></script>");
  auto const found = compare_documents(one, other);
  ASSERT_EQ(found.edits.size(), 1u);
  EXPECT_THAT(found.edits[0].text, HasSubstr("nonce=aaaaaaaaaa src=/new.js"));
}

TEST(Differences, ANewScriptAndWhatItFetchesAreOneGroup) {
  auto b = a_page();
  b.set_body(kPage, replaced(body(b, kPage), "</head>",
                             "<script src=https://ads.test/ad.js></script></head>"));
  b.add("https://ads.test/ad.js", "text/javascript", "fetch('/bid')");
  b.add("https://ads.test/bid", "application/json", "{}").referer = "https://ads.test/ad.js";
  auto const found = differences_of(a_page(), b);
  ASSERT_EQ(found.groups.size(), 1u) << titles(found);
  EXPECT_TRUE(found.groups[0].can_be_put_in);
  EXPECT_THAT(found.groups[0].title,
              HasSubstr("line 6: added `<script src=https://ads.test/ad.js></script>`, with a "
                        "request for https://ads.test/ad.js and 1 more"));
}

TEST(Differences, ARequestThatNothingMentionsCannotBePutIn) {
  auto b = a_page();
  b.add("https://other.test/x", "image/gif", "x");
  auto a = a_page();
  a.add("https://gone.test/y", "image/gif", "y");
  auto const found = differences_of(a, b);
  EXPECT_THAT(told(found),
              UnorderedElementsAre("request more https://other.test/x: GET, image/gif, 1 byte",
                                   "request less https://gone.test/y: GET, image/gif, 1 byte"));
  for (auto const& group : found.groups) EXPECT_FALSE(group.can_be_put_in);
}

TEST(Differences, AnotherUrlForTheSameThing) {
  auto b = a_page();
  auto& track = b.at("https://cdn.test/track.1a2b3c4d.js?t=1700000001");
  track.target = "/track.99ff00aa.js?t=1800000001";                   // same shape
  b.at("https://a.test/img/hero.png").target = "/pictures/main.png";  // same body
  EXPECT_THAT(
      told(differences_of(a_page(), b)),
      UnorderedElementsAre("URL https://cdn.test/track.99ff00aa.js?t=1800000001: instead of "
                           "https://cdn.test/track.1a2b3c4d.js?t=1700000001",
                           "URL https://a.test/pictures/main.png: instead of "
                           "https://a.test/img/hero.png"));
}

TEST(Differences, TheSamePlaceInTheDocumentMakesItTheSameThing) {
  auto b = a_page();
  b.set_body(kPage, replaced(body(b, kPage), "/img/hero.png", "/img/summer.png"));
  b.at("https://a.test/img/hero.png").target = "/img/summer.png";
  b.set_body("https://a.test/img/summer.png", "a much larger hero");
  auto const found = differences_of(a_page(), b);
  EXPECT_THAT(found.alignment.only_a, IsEmpty());
  EXPECT_THAT(found.alignment.only_b, IsEmpty());
  ASSERT_EQ(found.groups.size(), 1u) << titles(found);
  EXPECT_THAT(told(found), testing::Contains("content https://a.test/img/summer.png: 18 bytes "
                                             "instead of 4"));
}

TEST(Differences, ABodyThatIsNoTextIsComparedAsAWhole) {
  auto b = a_page();
  b.set_body("https://a.test/img/hero.png", std::string(40, 'x'));
  EXPECT_THAT(told(differences_of(a_page(), b)),
              ElementsAre("content https://a.test/img/hero.png: 40 bytes instead of 4"));
}

TEST(Differences, DecodedBytesAreBounded) {
  MadePage a;
  MadePage b;
  for (int i = 0; i < 40; ++i) {
    auto const url = "https://a.test/" + std::to_string(i) + "x.png";
    a.add(url, "image/png", "a bomb");
    b.add(url, "image/png", "another");
  }
  std::size_t decoded = 0;
  auto const bomb = [&decoded](const RecordedExchange& of) -> std::optional<std::string> {
    ++decoded;
    if (decoded % 3 == 0) return std::nullopt;  // too large, which is known only then
    return std::string(kComparedBytesMax, of.size_bytes == 6 ? 'a' : 'b');
  };
  PageBodies const bodies{.plain = bomb, .wire_digests = {}};  // pictures are not digested
  auto const found = find_differences(a.page, b.page, bodies, bodies);
  EXPECT_EQ(found.all.size(), 40u);
  EXPECT_LE(decoded, kAllComparedBytesMax / kComparedBytesMax);
}

TEST(Differences, ANonceWithoutLimitMakesNoDocumentWithoutLimit) {
  std::string const text = "nonce=bbbbbbbbbb";
  EXPECT_EQ(with_nonce(text, "bbbbbbbbbb", std::string(300, 'a')), text);
}

TEST(Differences, CompressionThatWasLostIsOneChangeOfTheHost) {
  auto a = a_page();
  a.set_coded("https://a.test/app.js", "br", "short1");
  a.set_coded("https://a.test/style.css", "br", "short2");
  auto b = a_page();
  b.at("https://a.test/app.js").headers = Headers();
  b.at("https://a.test/style.css").headers = Headers();
  auto const found = differences_of(a, b);
  ASSERT_EQ(found.groups.size(), 1u) << titles(found);
  EXPECT_EQ(found.groups[0].title,
            "https://a.test/style.css: coding: no coding instead of br, 16 bytes instead of 6, "
            "and 1 more");
}

TEST(Differences, ARedirectMore) {
  auto b = a_page();
  auto& hop = b.at("https://a.test/app.js");
  hop.status = 302;
  hop.headers = Headers({{.name = "Location", .value = "/moved/app.js"}});
  b.add("https://a.test/moved/app.js", "text/javascript", "moved()");
  auto const found = differences_of(a_page(), b);
  ASSERT_EQ(found.groups.size(), 1u) << titles(found);
  EXPECT_EQ(found.groups[0].title,
            "https://a.test/app.js: redirect: 302 to /moved/app.js instead of 200, with a request "
            "for https://a.test/moved/app.js");
}

TEST(Differences, AnErrorInPlaceOfAResponse) {
  auto b = a_page();
  b.at("https://a.test/style.css").status = 503;
  EXPECT_THAT(told(differences_of(a_page(), b)),
              ElementsAre("status https://a.test/style.css: 503 instead of 200"));
}

TEST(Differences, FieldsThatMatter) {
  auto b = a_page();
  b.at("https://a.test/style.css").headers = Headers(
      {{.name = "cache-control", .value = "no-store"}, {.name = "Server", .value = "other"}});
  b.at("https://a.test/app.js").headers = Headers(
      {{.name = "Cache-Control", .value = "no-store"}, {.name = "Priority", .value = "u=6"}});
  b.at(kPage).headers =
      Headers({{.name = "Content-Security-Policy", .value = "script-src 'nonce-bbbbbbbbbb'"},
               {.name = "Link", .value = "</style.css>; rel=preload; as=style"}});
  b.at("https://a.test/font.woff2").headers =
      Headers({{.name = "Access-Control-Allow-Origin", .value = "*"}});
  auto const found = differences_of(a_page(), b);
  EXPECT_THAT(
      told(found),
      UnorderedElementsAre(
          "caching https://a.test/style.css: `no-store` instead of `max-age=600`",
          "caching https://a.test/app.js: `no-store` instead of `max-age=600`",
          "priority https://a.test/app.js: `priority: u=6` instead of nothing",
          "hints https://a.test/: `link: </style.css>; rel=preload; as=style` instead of nothing",
          "policy https://a.test/font.woff2: `access-control-allow-origin: *` instead of nothing"));
  EXPECT_EQ(found.groups.size(), 4u) << titles(found);  // the cache lifetimes are one
}

TEST(Differences, ExpiresIsComparedWithItsDate) {
  auto const page_of = [](const char* date, const char* expires) {
    auto page = a_page();
    page.at("https://a.test/font.woff2").headers =
        Headers({{.name = "Date", .value = date}, {.name = "Expires", .value = expires}});
    return page;
  };
  auto const monday = page_of("Mon, 05 Jan 2026 10:00:00 GMT", "Mon, 05 Jan 2026 11:00:00 GMT");
  auto const tuesday = page_of("Tue, 06 Jan 2026 12:00:00 GMT", "Tue, 06 Jan 2026 13:00:00 GMT");
  auto const shorter = page_of("Tue, 06 Jan 2026 12:00:00 GMT", "Tue, 06 Jan 2026 12:01:00 GMT");
  EXPECT_THAT(told(differences_of(monday, tuesday)), IsEmpty());
  EXPECT_THAT(told(differences_of(monday, shorter)),
              ElementsAre(HasSubstr("`expires after 1 minutes` instead of `expires after 60")));
}

TEST(Differences, AHostThatDoesNotKeepConnectionsIsOneGroup) {
  auto b = a_page();
  for (auto const* const url : {"https://a.test/font.woff2", "https://a.test/img/hero.png"}) {
    b.at(url).headers = Headers({{.name = "Connection", .value = "close"}});
  }
  auto const found = differences_of(a_page(), b);
  EXPECT_THAT(told(found), ElementsAre(HasSubstr("connection https://a.test/font.woff2"),
                                       HasSubstr("connection https://a.test/img/hero.png")));
  ASSERT_EQ(found.groups.size(), 1u);
  EXPECT_TRUE(found.groups[0].can_be_put_in);
}

TEST(Differences, HowLongAConnectionIsKeptIsNotCompared) {
  auto a = a_page();
  auto b = a_page();
  a.at("https://a.test/font.woff2").headers =
      Headers({{.name = "Keep-Alive", .value = "timeout=5, max=100"}});
  b.at("https://a.test/font.woff2").headers =
      Headers({{.name = "Keep-Alive", .value = "timeout=5, max=99"}});
  EXPECT_THAT(told(differences_of(a, b)), IsEmpty());
}

TEST(Differences, TheThinkTimesOfAHostAreOneDifference) {
  auto b = a_page();
  b.at("https://a.test/style.css").think = milliseconds(24);  // as always
  b.at("https://a.test/app.js").think = milliseconds(350);
  b.at("https://a.test/font.woff2").think = milliseconds(90);
  EXPECT_THAT(told(differences_of(a_page(), b)),
              ElementsAre("think time a.test: 350 ms instead of 20 ms for /app.js; other times for "
                          "1 more request"));
}

TEST(Differences, HostsDifferInCertificateProtocolAddressAndLookUp) {
  auto a = a_page();
  a.page.hosts["cdn.test"].address = a.page.hosts["a.test"].address;
  auto b = a_page();
  b.page.hosts["cdn.test"].chain_bytes = 9000;
  b.page.hosts["a.test"].protocol = "http/1.1";
  b.page.hosts["a.test"].resolved_in = milliseconds(300);
  EXPECT_THAT(told(differences_of(a, b)),
              UnorderedElementsAre(
                  "certificates cdn.test: a chain of 9000 bytes instead of 4000",
                  "protocol a.test: http/1.1 instead of h2",
                  "name resolution a.test: resolved in 300 ms instead of 8 ms",
                  "coalescing a.test: at the address of no other host instead of cdn.test",
                  "coalescing cdn.test: at the address of no other host instead of a.test"));
}

TEST(Differences, WithoutALinkNoNameIsLookedUp) {
  auto b = a_page();
  b.page.hosts["a.test"].resolved_in = milliseconds(300);
  b.at("https://a.test/app.js").think = milliseconds(350);
  auto differences = differences_of(a_page(), b);
  leave_out_names(differences);
  ASSERT_EQ(differences.groups.size(), 2U);
  for (const DifferenceGroup& group : differences.groups) {
    bool const is_name = group.title.contains("resolved in");
    EXPECT_NE(group.can_be_put_in, is_name) << group.title;
    EXPECT_EQ(group.title.ends_with(" (needs --link)"), is_name) << group.title;
  }
}

TEST(Differences, OtherAddressesOfTheSameCompanyAreNone) {
  auto b = a_page();
  b.page.hosts["cdn.test"].address = "198.51.100.9";
  EXPECT_THAT(told(differences_of(a_page(), b)), IsEmpty());
}

TEST(Differences, OrderAndInitiator) {
  auto b = a_page();
  std::swap(b.page.exchanges[1], b.page.exchanges[4]);
  b.at("https://a.test/font.woff2").referer = "https://a.test/style.css";
  auto a = a_page();
  a.at("https://a.test/font.woff2").referer = kPage;
  EXPECT_THAT(told(differences_of(a, b)),
              UnorderedElementsAre(
                  "initiator https://a.test/font.woff2: https://a.test/style.css instead of "
                  "https://a.test/",
                  HasSubstr("order https://a.test/: 2 requests of 6 in another order")));
}

TEST(Differences, ADigestInTheDocumentGoesWithTheBody) {
  auto a = a_page();
  auto const tag = std::string("<script src=/app.js></script>");
  auto const with_digest = [&](std::string_view code) {
    return replaced(body(a, kPage), tag,
                    "<script src=/app.js integrity=" + digests_of(code).front() + "></script>");
  };
  auto b = a_page();
  b.set_body("https://a.test/app.js", "changed()");
  b.set_body(kPage, with_digest("changed()"));
  a.set_body(kPage, with_digest(body(a, "https://a.test/app.js")));
  auto const found = differences_of(a, b);
  EXPECT_EQ(found.all.size(), 2u);
  EXPECT_EQ(found.groups.size(), 1u) << titles(found);
}

TEST(Differences, TenThousandExchangesAreAlignedInNoTime) {
  MadePage a;
  MadePage b;
  for (int i = 0; i < 10'000; ++i) {
    auto const name = "https://h" + std::to_string(i % 40) + ".test/f" + std::to_string(i) + "x/";
    a.add(name + "1700000001?v=1", "text/javascript", "a" + std::to_string(i));
    b.add(name + "1800000002?v=1", "text/javascript", "b" + std::to_string(i));
  }
  auto const found = differences_of(a, b);
  EXPECT_EQ(found.alignment.pairs.size(), 10'000u);
  EXPECT_EQ(found.groups.size(), 10'000u);  // a body and its URL
}

}  // namespace
}  // namespace reprise
