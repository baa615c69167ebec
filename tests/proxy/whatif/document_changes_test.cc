#include "proxy/whatif/document_changes.h"

#include <gmock/gmock.h>

#include "inject/csp.h"
#include "tests/proxy/whatif/recorded_site.h"

namespace reprise::whatif {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr auto kCsp = "Content-Security-Policy";

class DocumentChangesTest : public testing::Test {
 protected:
  void add_page(std::string_view html, std::string_view policy = "",
                std::string_view type = "text/html") {
    auto page = a_get(kPage, type);
    if (!policy.empty()) page = with(page, kCsp, policy);
    site().add(page, html);
    site().add(a_get("https://a.test/x.js", "text/javascript", kPage), "run()");
    site().add(a_get("https://a.test/x.css", "text/css", kPage), "a{color:red}");
    site().add(a_get("https://a.test/x.png", "image/png", kPage), "pixels");
    site().add(a_get("https://a.test/f.woff2", "font/woff2", kPage), "glyphs");
  }
  void make_new_site() { own_ = std::make_unique<RecordedSite>(); }
  RecordedSite& site() { return *own_; }

 private:
  std::unique_ptr<RecordedSite> own_ = std::make_unique<RecordedSite>();
};

/// The Links of the one interim response before the page.
std::vector<std::string> hints_of(const ChangedSite& made) {
  auto const& interim = made.at(kPage).interim;
  if (interim.size() != 1) return {std::to_string(interim.size()) + " interim responses"};
  std::vector<std::string> links;
  for (auto const& field : interim[0].headers.list()) links.emplace_back(field.value);
  return links;
}

TEST_F(DocumentChangesTest, PermitInlineScriptsByTheirHash) {
  add_page("<head></head><script src=x.js></script>", "script-src 'self'; style-src 'none'");
  ChangedSite const made(site(), {"type=script: inline"});
  EXPECT_THAT(made.plain(kPage), HasSubstr(">run()</script>"));
  EXPECT_EQ(field_of(made.reply(kPage), kCsp),
            "script-src 'self' " + inject::hash_source_of("run()") + "; style-src 'none'");
}

TEST_F(DocumentChangesTest, PermitInlineScriptsByTheirHashBesideANonce) {
  add_page("<head></head><script src=x.js></script>", "script-src 'self' 'nonce-abc'");
  ChangedSite const made(site(), {"type=script: inline"});
  EXPECT_EQ(field_of(made.reply(kPage), kCsp),
            "script-src 'self' 'nonce-abc' " + inject::hash_source_of("run()"));
}

TEST_F(DocumentChangesTest, LeaveThePoliciesAloneWithoutAnInlineScript) {
  add_page("<head></head><script src=x.js></script>", "script-src 'self'");
  ChangedSite const made(site(), {"type=script: async"});
  EXPECT_EQ(field_of(made.reply(kPage), kCsp), "script-src 'self'");
}

TEST_F(DocumentChangesTest, RefuseInlineStylesThatAPolicyForbids) {
  auto const html = "<head><link rel=stylesheet href=x.css></head>";
  for (std::string const policy :
       {"style-src 'self'", "default-src 'self'", "style-src-elem *; style-src 'unsafe-inline'",
        "style-src 'unsafe-inline', style-src 'self'", "style-src 'unsafe-inline' 'nonce-abc'",
        "style-src 'unsafe-inline' 'sha256-abc='"}) {
    make_new_site();
    add_page(html, policy);
    ChangedSite const made(site(), {"type=style: inline"});
    EXPECT_EQ(made.plain(kPage), html) << policy;
    EXPECT_EQ(made.effect(),
              "1 selected, 0 changed; the document's Content-Security-Policy forbids inline "
              "styles: https://a.test/x.css")
        << policy;
  }
  for (std::string const policy : {"style-src 'unsafe-inline'", "img-src 'none'",
                                   "style-src-elem 'unsafe-inline'; default-src 'none'"}) {
    make_new_site();
    add_page(html, policy);
    ChangedSite const made(site(), {"type=style: inline"});
    EXPECT_THAT(made.plain(kPage), HasSubstr(">a{color:red}</style>")) << policy;
  }
}

TEST_F(DocumentChangesTest, RefuseDataImagesThatAPolicyForbids) {
  add_page("<head></head><img src=x.png>", "img-src 'self'");
  ChangedSite const made(site(), {"type=image: inline"});
  EXPECT_EQ(made.effect(),
            "1 selected, 0 changed; the document's Content-Security-Policy forbids images in "
            "data: URLs: https://a.test/x.png");
  make_new_site();
  add_page("<head></head><img src=x.png>", "img-src 'self' data:; style-src 'none'");
  ChangedSite const permitted(site(), {"type=image: inline"});
  EXPECT_THAT(permitted.plain(kPage), HasSubstr("src=\"data:image/png;base64,cGl4ZWxz\""));
}

TEST_F(DocumentChangesTest, StateTheCharsetThatTheDocumentDeclaresLater) {
  add_page("<head><script src=x.js></script><meta charset=windows-1251></head>");
  ChangedSite const made(site(), {"type=script: preload"});
  EXPECT_EQ(field_of(made.reply(kPage), "content-type"), "text/html; charset=windows-1251");
  ChangedSite const element(site(), {"type=script: async"});
  EXPECT_EQ(field_of(element.reply(kPage), "content-type"), "text/html");
}

TEST_F(DocumentChangesTest, MakeSeveralChangesOfOneDocument) {
  add_page(
      "<head><link rel=stylesheet href=x.css></head>"
      "<script src=x.js></script><img src=x.png>");
  ChangedSite const made(site(),
                         {"type=style: inline", "type=script: defer", "type=image: lazy",
                          "type=image: priority=high", "type=font: preload", "*: preconnect"});
  EXPECT_THAT(
      made.plain(kPage),
      AllOf(HasSubstr(">a{color:red}</style>"), HasSubstr("defer"), HasSubstr("loading=\"lazy\""),
            HasSubstr("fetchpriority=\"high\""), HasSubstr("as=\"font\" crossorigin=\"anonymous\""),
            HasSubstr("rel=\"preconnect\" href=\"https://a.test")));
}

TEST_F(DocumentChangesTest, ConnectInBothModesOfAnOrigin) {
  site().add(a_get(kPage, "text/html"), "<head></head>");
  site().add(a_get("https://b.test/x.png", "image/png", kPage));
  site().add(a_get("https://b.test/f.woff2", "font/woff2", kPage));
  ChangedSite const made(site(), {"host=b.test: preconnect"});
  EXPECT_THAT(made.plain(kPage), HasSubstr("<link rel=\"preconnect\" href=\"https://b.test\">"
                                           "<link rel=\"preconnect\" href=\"https://b.test\" "
                                           "crossorigin=\"anonymous\">"));
  EXPECT_EQ(made.effect(), "2 selected, 2 changed");
}

TEST_F(DocumentChangesTest, KeepTheCodingOfTheDocument) {
  auto const html = coded("<head></head><script src=x.js></script>", {coding::Coding::kBrotli});
  site().add(with(a_get(kPage, "text/html"), "Content-Encoding", "br"), html);
  site().add(a_get("https://a.test/x.js", "text/javascript", kPage), "run()");
  ChangedSite const made(site(), {"type=script: async"});
  EXPECT_EQ(field_of(made.reply(kPage), "content-encoding"), "br");
  EXPECT_THAT(made.plain(kPage), HasSubstr("async"));
}

TEST_F(DocumentChangesTest, SayWhyADocumentCannotBeChanged) {
  add_page("<head></head>", "", "text/html; charset=utf-16le");
  ChangedSite const utf16(site(), {"type=script: preload"});
  EXPECT_THAT(utf16.effect(), HasSubstr("cannot be edited: https://a.test/"));
  make_new_site();
  site().add(with(a_get(kPage, "text/html"), "Content-Encoding", "br"), "no brotli");
  site().add(a_get("https://a.test/x.js", "text/javascript", kPage));
  ChangedSite const damaged(site(), {"type=script: preload"});
  EXPECT_THAT(damaged.effect(), HasSubstr("its body cannot be decoded"));
  EXPECT_EQ(damaged.bodies.at(kPage), "no brotli");
}

TEST_F(DocumentChangesTest, GoOnWhereAUrlCannotBeMentioned) {
  add_page("<head></head><script src=x.js></script>");
  site().add(a_get("https://not a host/y.js", "text/javascript", kPage));
  ChangedSite const made(site(), {"type=script: preload", "type=script: early-hints"});
  EXPECT_THAT(made.plain(kPage), HasSubstr("rel=\"preload\" href=\"https://a.test/x.js\""));
  EXPECT_EQ(made.effect(0),
            "2 selected, 1 changed; no document can mention such a URL: https://not a host/y.js");
  EXPECT_EQ(made.effect(1),
            "2 selected, 1 changed; no Link can name such a URL: https://not a host/y.js");
}

TEST_F(DocumentChangesTest, HoldNoMoreThanTheirLimit) {
  site().add(a_get(kPage, "text/html"),
             "<head></head><script src=1.js></script><script src=2.js></script>");
  std::string const large(40 << 20, ' ');
  for (auto const* const name : {"https://a.test/1.js", "https://a.test/2.js"}) {
    site().add(a_get(name, "text/javascript", kPage), large);
  }
  ChangedSite const made(site(), {"type=script: inline"});
  EXPECT_EQ(made.effect(),
            "2 selected, 1 changed; a document would hold over 64 MiB of other files: "
            "https://a.test/2.js");
}

TEST_F(DocumentChangesTest, InlineSaysWhyAResourceCannotBe) {
  site().add(a_get(kPage, "text/html"), "<head></head><script src=x.js></script>");
  auto cut = a_get("https://a.test/x.js", "text/javascript", kPage);
  cut.outcome = Outcome::kCutByClient;
  site().add(cut, "run(");
  ChangedSite const made(site(), {"type=script: inline"});
  EXPECT_EQ(made.effect(), "1 selected, 0 changed; the response is not whole: https://a.test/x.js");
  for (std::uint16_t const status : {302, 404}) {
    make_new_site();
    site().add(a_get(kPage, "text/html"), "<head></head><script src=x.js></script>");
    auto other = a_get("https://a.test/x.js", "text/javascript", kPage);
    other.response.status = status;
    site().add(other, "elsewhere");
    ChangedSite const of(site(), {"path=/x.js: inline"});
    EXPECT_EQ(of.effect(), "1 selected, 0 changed; its response has the status " +
                               std::to_string(status) + ": https://a.test/x.js");
  }
}

TEST_F(DocumentChangesTest, EarlyHintsComeBeforeOtherInterimResponses) {
  auto page = a_get(kPage, "text/html");
  page.interim = {{.status = 100, .time = SessionTime(210)}, {.status = 103}};
  site().add(page, "<head></head>");
  site().add(a_get("https://a.test/x.js", "text/javascript", kPage));
  site().add(a_get("https://b.test/f.woff2", "font/woff2", kPage));
  ChangedSite const made(site(), {"type=script: early-hints", "type=font: early-hints"});
  auto const& interim = made.at(kPage).interim;
  ASSERT_THAT(interim, SizeIs(3));
  EXPECT_EQ(interim[0].status, 103);
  EXPECT_EQ(interim[0].time, SessionTime(200));
  ASSERT_THAT(interim[0].headers.list(), SizeIs(2));
  EXPECT_EQ(interim[0].headers.list()[0].value, "<https://a.test/x.js>; rel=preload; as=script");
  EXPECT_EQ(interim[0].headers.list()[1].value,
            "<https://b.test/f.woff2>; rel=preload; as=font; crossorigin");
  EXPECT_EQ(interim[1].status, 100);
  EXPECT_EQ(made.bodies.at(kPage), "<head></head>");
}

TEST_F(DocumentChangesTest, EarlyHintsHaveNoParameterThatAChromiumRefuses) {
  add_page(
      "<head><script src=x.js integrity=sha256-A nonce=n></script>"
      "<link rel=stylesheet href=x.css></head>");
  ChangedSite const made(site(), {"type=script: early-hints", "type=style: early-hints"});
  EXPECT_THAT(hints_of(made), ElementsAre("<https://a.test/x.js>; rel=preload; as=script",
                                          "<https://a.test/x.css>; rel=preload; as=style"));
}

TEST_F(DocumentChangesTest, PreloadsHaveTheModeOfTheElementThatFetches) {
  add_page(
      "<head><link rel=stylesheet href=x.css crossorigin=anonymous>"
      "<script src=x.js crossorigin=use-credentials></script></head><img src=x.png>");
  ChangedSite const made(site(),
                         {"type=style: preload", "type=script: preload", "type=image: preload"});
  EXPECT_THAT(made.plain(kPage),
              AllOf(HasSubstr("x.css\" as=\"style\" crossorigin=\"anonymous\">"),
                    HasSubstr("x.js\" as=\"script\" crossorigin=\"use-credentials\">"),
                    HasSubstr("x.png\" as=\"image\">")));
}

TEST_F(DocumentChangesTest, PreloadsHaveTheRecordedModeIfNoElementFetches) {
  site().add(a_get(kPage, "text/html"), "<head></head><script src=named.js></script>");
  for (auto const* const name : {"named.js", "unnamed.js"}) {
    auto const script = a_get(std::string(kPage) + name, "text/javascript", kPage);
    site().add(asked_with(script, "Sec-Fetch-Mode", "cors"));
  }
  ChangedSite const made(site(), {"type=script: preload", "type=script: early-hints"});
  EXPECT_THAT(made.plain(kPage),
              AllOf(HasSubstr("/named.js\" as=\"script\">"),
                    HasSubstr("/unnamed.js\" as=\"script\" crossorigin=\"anonymous\">")));
  EXPECT_THAT(hints_of(made),
              ElementsAre("<https://a.test/named.js>; rel=preload; as=script",
                          "<https://a.test/unnamed.js>; rel=preload; as=script; crossorigin"));
}

TEST_F(DocumentChangesTest, EarlyHintsHaveTheModeOfTheElementThatFetches) {
  auto const html =
      "<head><link rel=stylesheet href=x.css crossorigin=anonymous>"
      "<script src=x.js crossorigin=use-credentials></script></head>";
  add_page(html);
  ChangedSite const made(site(), {"type=script: early-hints", "type=style: early-hints"});
  EXPECT_THAT(
      hints_of(made),
      ElementsAre("<https://a.test/x.js>; rel=preload; as=script; crossorigin=use-credentials",
                  "<https://a.test/x.css>; rel=preload; as=style; crossorigin"));
  EXPECT_EQ(made.bodies.at(kPage), html);
}

TEST_F(DocumentChangesTest, EarlyHintsHaveTheRecordedModeIfTheDocumentCannotBeEdited) {
  add_page("<head><script src=x.js crossorigin></script>", "", "text/html; charset=utf-16le");
  ChangedSite const made(site(), {"type=script: early-hints", "type=font: early-hints"});
  EXPECT_THAT(hints_of(made),
              ElementsAre("<https://a.test/x.js>; rel=preload; as=script",
                          "<https://a.test/f.woff2>; rel=preload; as=font; crossorigin"));
}

TEST_F(DocumentChangesTest, PreloadsHaveANonceThatThePolicyPermits) {
  auto const link = std::string("rel=\"preload\" href=\"https://a.test/x.js\" as=\"script\"");
  add_page("<head></head><script src=x.js nonce=abc></script>", "script-src 'nonce-abc'");
  ChangedSite const mentioned(site(), {"type=script: preload"});
  EXPECT_THAT(mentioned.plain(kPage), HasSubstr(link + " nonce=\"abc\">"));
  make_new_site();
  add_page("<head></head>", "img-src 'none', script-src 'self' 'nonce-abc' 'nonce-def'");
  ChangedSite const inserted(site(), {"type=script: preload"});
  EXPECT_THAT(inserted.plain(kPage), HasSubstr(link + " nonce=\"abc\">"));
  make_new_site();
  add_page("<head></head>", "style-src 'nonce-abc'; default-src 'nonce-def'; script-src 'self'");
  ChangedSite const without(site(), {"type=script: preload"});
  EXPECT_THAT(without.plain(kPage), HasSubstr(link + ">"));
}

TEST_F(DocumentChangesTest, EarlyHintsCannotLeaveTheirLink) {
  site().add(a_get(kPage, "text/html"), "<head></head>");
  auto odd = a_get("https://a.test/x", "text/javascript", kPage);
  odd.request.target = "/>; rel=next, <https://evil.test/\r\nSet-Cookie: a=b\"";
  site().add(odd);
  ChangedSite const made(site(), {"type=script: early-hints", "type=script: preload"});
  auto const& interim = made.at(kPage).interim;
  ASSERT_THAT(interim, SizeIs(1));
  EXPECT_EQ(interim[0].headers.list()[0].value,
            "<https://a.test/%3E;%20rel=next,%20%3Chttps://evil.test/Set-Cookie:%20a=b%22>"
            "; rel=preload; as=script");
  EXPECT_THAT(made.plain(kPage), Not(HasSubstr("<https")));
}

}  // namespace
}  // namespace reprise::whatif
