#include "inject/document/inline.h"

#include <gmock/gmock.h>

#include "inject/csp.h"
#include "tests/inject/document/change_page.h"

namespace reprise::inject {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

DocumentChange script_of(std::string_view body, std::string type = "text/javascript") {
  return inline_of("https://a.test/x.js", std::move(type), body);
}

DocumentChange style_of(std::string_view body, std::string type = "text/css") {
  return inline_of("https://b.test/s/x.css", std::move(type), body);
}

TEST(InlineScript, TakesThePlaceOfTheReference) {
  auto const page = changed_page(
      "<script id=a SRC='/x.js' integrity=sha256-x crossorigin nonce=n type=text/javascript>"
      "ignored</script ><p>",
      {script_of("a(1 < 2)\r\n")});
  EXPECT_EQ(page.text, "<script id=a    nonce=n type=text/javascript>a(1 < 2)\n</script ><p>");
  EXPECT_THAT(page.document.script_hash_sources, ElementsAre(hash_source_of("a(1 < 2)\n")));
}

TEST(InlineScript, IsRefusedWhereItWouldRunAtAnotherTimeOrMeanSomethingElse) {
  auto const places = [](std::string_view document, std::string_view body) {
    auto const page = changed_page(document, {script_of(body)});
    EXPECT_EQ(page.text, document);
    EXPECT_THAT(page.document.script_hash_sources, IsEmpty());
    return page.places();
  };
  EXPECT_THAT(places("<script async src=/x.js></script>", "a()"),
              ElementsAre("refused: an async script does not block; an inline script would"));
  EXPECT_THAT(
      places("<script defer src=/x.js></script>", "a()"),
      ElementsAre("refused: a deferred script runs after parsing; an inline script cannot"));
  EXPECT_THAT(places("<script type=module src=/x.js></script>", "a()"),
              ElementsAre("refused: a module script's imports are relative to its URL"));
  EXPECT_THAT(places("<script src=/x.js>", "a()"), ElementsAre("refused: its end tag is missing"));
  EXPECT_THAT(places("<script src=/x.js></script>", "'</Script>'"),
              ElementsAre("refused: its text contains \"</script\", which would end the element"));
  EXPECT_THAT(places("<script src=/x.js></script>", "'<!--'"),
              ElementsAre("refused: its text contains \"<!--\", which has a meaning in inline "
                          "scripts"));
  EXPECT_THAT(places("<script src=/x.js></script>", std::string_view("a\0b", 3)),
              ElementsAre("refused: it contains a NUL character"));
  EXPECT_THAT(changed_page("<script src=/x.js></script>", {script_of("a()", "Image/png")}).places(),
              ElementsAre("refused: its Content-Type is Image/png"));
  EXPECT_THAT(places("<script type=text/x src=/x.js></script>", "a()"), IsEmpty());
}

TEST(InlineScript, IsRefusedAtEveryElementAndWhereTheDocumentWouldGrowTooLarge) {
  EXPECT_THAT(changed_page("<script src=/x.js></script><script src=/x.js></script>"
                           "<script src=/x.js charset=gbk></script>",
                           {script_of("'<!--'")})
                  .places(),
              testing::Each(testing::StartsWith("refused: its text contains \"<!--\"")));
  std::string const space(kDocumentBytesMax - 4096, ' ');
  EXPECT_THAT(changed_page("<script src=/x.js></script><script src=/x.js></script>" + space,
                           {script_of(std::string(2048, ' '))})
                  .places(),
              ElementsAre("changed", "refused: the document would be larger than 64 MiB"));
}

TEST(InlineScript, IsConvertedToTheEncodingOfTheDocument) {
  auto const text_in = [](std::string_view charset, std::string_view body, std::string type,
                          std::string_view attributes = "") {
    auto const page = changed_page("<script src=/x.js " + std::string(attributes) + "></script>",
                                   {script_of(body, std::move(type))}, charset);
    if (page.changed() == 0) return page.places().at(0);
    return page.text.substr(page.text.find('>') + 1,
                            page.text.rfind('<') - page.text.find('>') - 1);
  };
  EXPECT_EQ(text_in("utf-8", "'\xE9'", "text/javascript; charset=latin1"), "'\xC3\xA9'");
  EXPECT_EQ(text_in("utf-8", "'\xE9'", "text/javascript", "charset=iso-8859-1"), "'\xC3\xA9'");
  EXPECT_EQ(text_in("windows-1252", "'\xE9'", ""), "'\xE9'");
  EXPECT_EQ(text_in("windows-1252", "'\xC3\xA9'", "text/javascript;charset=utf-8"), "'\xE9'");
  EXPECT_EQ(text_in("windows-1252", "\xEF\xBB\xBF'\xC3\xA9'", ""), "'\xE9'");
  EXPECT_EQ(text_in("utf-8", "\xEF\xBB\xBF'\xC3\xA9'", "a/b;charset=latin1"), "'\xC3\xA9'");
  EXPECT_EQ(text_in("utf-8", std::string_view("\xFF\xFE'\0\xE9\0'\0", 8), ""), "'\xC3\xA9'");
  EXPECT_EQ(text_in("utf-8", "'\xE9'", ""), "'\xEF\xBF\xBD'");
  EXPECT_EQ(text_in("gbk", "'\xE4\xB8\xAD'", "a/b;charset=utf-8"), "'\xD6\xD0'");
  EXPECT_EQ(text_in("windows-1252", "'\xE4\xB8\xAD'", "a/b;charset=utf-8"),
            "refused: it has characters that the document's encoding windows-1252 does not have");
  EXPECT_EQ(text_in("utf-8", "'\xFF\xFF'", "a/b;charset=gbk"),
            "refused: its text is not valid gbk");
  EXPECT_EQ(text_in("utf-8", "'\xE9'", "a/b;charset=hz-gb-2312"),
            "refused: its text is not valid hz-gb-2312");
}

// A policy's hash is that of the text in UTF-8.
TEST(InlineScript, HasTheHashOfItsText) {
  auto const page = changed_page("<script src=/x.js></script>",
                                 {script_of("'\xC3\xA9'", "a/b;charset=utf-8")}, "windows-1252");
  EXPECT_THAT(page.document.script_hash_sources, ElementsAre(hash_source_of("'\xC3\xA9'")));
}

// It cannot permit what comes after it, and does not concern what comes before.
TEST(InlineScript, IsRefusedAfterAPolicyInTheDocument) {
  auto const page = changed_page(
      "<script src=/x.js></script><META HTTP-EQUIV='Content-Security-Policy' content=\"x\">"
      "<script src=/x.js></script>",
      {script_of("a()")});
  EXPECT_THAT(page.places(), ElementsAre("changed",
                                         "refused: a <meta> of the document sets a "
                                         "Content-Security-Policy"));
}

TEST(InlineStyle, TakesThePlaceOfTheLink) {
  auto const page = changed_page(
      "<LINK rel='stylesheet' href='//b.test/s/x.css' media='print' onload=\"this.media='all'\" "
      "integrity=x crossorigin><p>",
      {style_of("a{b:url(y.png)}@import 'z.css';")});
  EXPECT_EQ(page.text,
            "<style   media='print' onload=\"this.media='all'\"  >"
            "a{b:url(\"https://b.test/s/y.png\")}@import \"https://b.test/s/z.css\";</style><p>");
}

TEST(InlineStyle, IsRefusedWhereItIsNotInUseOrMeansSomethingElse) {
  auto const places = [](std::string_view attributes, std::string_view body,
                         std::string type = "text/css") {
    auto const document = "<link href=//b.test/s/x.css " + std::string(attributes) + "><p>";
    auto const page = changed_page(document, {style_of(body, std::move(type))});
    EXPECT_EQ(page.text, document);
    return page.places();
  };
  EXPECT_THAT(places("rel='alternate stylesheet'", "a{}"),
              ElementsAre("refused: the style sheet is not in use"));
  EXPECT_THAT(places("rel=stylesheet disabled", "a{}"),
              ElementsAre("refused: the style sheet is not in use"));
  EXPECT_THAT(places("rel=stylesheet", "a{b:'</STYLE'}"),
              ElementsAre("refused: its text contains \"</style\", which would end the element"));
  EXPECT_THAT(places("rel=stylesheet", "a{}", "text/plain"),
              ElementsAre("refused: its Content-Type is text/plain, not text/css"));
  EXPECT_THAT(places("rel=stylesheet type=text/less", "a{}"), IsEmpty());
  EXPECT_THAT(places("rel=preload", "a{}"), IsEmpty());
}

TEST(InlineStyle, HasTheEncodingOfItsRule) {
  auto const page = changed_page("<link rel=stylesheet href=//b.test/s/x.css>",
                                 {style_of("@charset \"latin1\";a{b:'\xE9'}")});
  EXPECT_EQ(page.text, "<style  >@charset \"latin1\";a{b:'\xC3\xA9'}</style>");
}

TEST(InlineImage, IsADataUrl) {
  auto const image = inline_of("https://a.test/x.png", "Image/PNG; x=y", "\x89PNG");
  auto const page = changed_page("<img alt=a src='/x.png' crossorigin>", {image});
  EXPECT_EQ(page.text, "<img alt=a src=\"data:image/png;base64,iVBORw==\" >");
  EXPECT_THAT(changed_page("<img src=/x.png srcset='/y.png 2x'>", {image}).places(),
              ElementsAre("changed: the browser may choose an image of srcset instead"));
  EXPECT_THAT(changed_page("<img src=/y.png srcset='/x.png 2x'>", {image}).places(),
              ElementsAre("refused: the image is in srcset, of which the browser chooses"));
  EXPECT_THAT(changed_page("<img src=/x.png#a>", {image}).places(),
              ElementsAre("refused: its URL has a fragment"));
  auto const other = inline_of("https://a.test/x.png", "text/html", "x");
  EXPECT_THAT(changed_page("<img src=/x.png>", {other}).places(),
              ElementsAre("refused: its Content-Type 'text/html' is not an image's"));
}

TEST(InlineText, IsMadeBesideOtherChanges) {
  auto const page =
      changed_page("<head><link rel=stylesheet href=//b.test/s/x.css><script src=/x.js></script>",
                   {script_of("a()"), style_of("b{}"), preload_of("https://a.test/y", "image"),
                    change_of(ChangeKind::kPreconnect, "https://b.test")});
  EXPECT_EQ(page.text,
            "<head><link rel=\"preload\" href=\"https://a.test/y\" as=\"image\">"
            "<link rel=\"preconnect\" href=\"https://b.test\">"
            "<style  >b{}</style><script >a()</script>");
}

}  // namespace
}  // namespace reprise::inject
