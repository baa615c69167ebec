#include "inject/document/changes.h"

#include <gmock/gmock.h>

#include "tests/inject/document/change_page.h"

namespace reprise::inject {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// One change of a document whose URL is kPage.
struct ChangeCase {
  std::string_view why;
  DocumentChange change;
  std::string_view before;
  std::string_view after;  ///< empty: not changed
  std::size_t changed = 1;
};

const ChangeCase kChangeCases[] = {
    // Preload and preconnect.
    {"preload", preload_of("https://b.test/x?a=1&b=2", "script"),
     "<!doctype html><html><head><title>x</title>",
     "<!doctype html><html><head><link rel=\"preload\" href=\"https://b.test/x?a=1&amp;b=2\" "
     "as=\"script\"><title>x</title>"},
    {"preload without a head", preload_of("https://b.test/x", "image"), "<!doctype html><p>x",
     "<!doctype html><link rel=\"preload\" href=\"https://b.test/x\" as=\"image\"><p>x"},
    {"preload of a font", preload_of("https://b.test/x", "font"), "<head>",
     "<head><link rel=\"preload\" href=\"https://b.test/x\" as=\"font\" "
     "crossorigin=\"anonymous\">"},
    {"preload with credentials",
     preload_of("https://b.test/x", "fetch", CrossOrigin::kUseCredentials), "<head>",
     "<head><link rel=\"preload\" href=\"https://b.test/x\" as=\"fetch\" "
     "crossorigin=\"use-credentials\">"},
    {"preload that is there", preload_of("https://a.test/x", "image"),
     "<head><link href='/x' REL='Preload x' AS=Image>", "", 0},
    {"preload of another type is there", preload_of("https://a.test/x", "script"),
     "<head><link href=/x rel=preload as=image>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\">"
     "<link href=/x rel=preload as=image>"},
    {"preload with another mode is there", preload_of("https://a.test/x", "image"),
     "<head><link href=/x rel=preload as=image crossorigin>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"image\">"
     "<link href=/x rel=preload as=image crossorigin>"},
    {"preload in a template is not there", preload_of("https://a.test/x", "image"),
     "<head><template><link href=/x rel=preload as=image></template>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"image\">"
     "<template><link href=/x rel=preload as=image></template>"},
    {"preload with the integrity and the nonce of the first script",
     preload_of("https://a.test/x", "script"),
     "<head><script src=/x integrity=' sha384-A\n sha512-B' nonce=n1></script>"
     "<script src=/x integrity=sha256-C nonce=n2></script>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
     "integrity=\"sha384-A sha512-B\" nonce=\"n1\">"
     "<script src=/x integrity=' sha384-A\n sha512-B' nonce=n1></script>"
     "<script src=/x integrity=sha256-C nonce=n2></script>"},
    {"preload with the integrity of a style sheet", preload_of("https://a.test/x", "style"),
     "<head><link rel=stylesheet href=/x integrity=sha256-A>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"style\" integrity=\"sha256-A\">"
     "<link rel=stylesheet href=/x integrity=sha256-A>"},
    {"preload without an integrity that no header can hold",
     preload_of("https://a.test/x", "script"), "<head><script src=/x integrity='\"'></script>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\">"
     "<script src=/x integrity='\"'></script>"},
    {"preload with the same integrity is there", preload_of("https://a.test/x", "script"),
     "<head><link rel=preload as=script href=/x integrity=sha256-A>"
     "<script src=/x integrity=sha256-A></script>",
     "", 0},
    {"preload without the integrity is there", preload_of("https://a.test/x", "script"),
     "<head><link rel=preload as=script href=/x><script src=/x integrity=sha256-A></script>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
     "integrity=\"sha256-A\"><link rel=preload as=script href=/x>"
     "<script src=/x integrity=sha256-A></script>"},
    {"preload with the mode of a style sheet", preload_of("https://a.test/x", "style"),
     "<head><link rel=stylesheet href=/x crossorigin=Anonymous>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"style\" "
     "crossorigin=\"anonymous\"><link rel=stylesheet href=/x crossorigin=Anonymous>"},
    {"preload with the mode of the first script", preload_of("https://a.test/x", "script"),
     "<head><script src=/x crossorigin></script><script src=/x></script>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
     "crossorigin=\"anonymous\"><script src=/x crossorigin></script><script src=/x></script>"},
    {"preload with credentials as the script",
     preload_of("https://a.test/x", "script", CrossOrigin::kAnonymous),
     "<head><script src=/x crossorigin=use-credentials></script>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
     "crossorigin=\"use-credentials\"><script src=/x crossorigin=use-credentials></script>"},
    {"preload without crossorigin as the script",
     preload_of("https://a.test/x", "script", CrossOrigin::kAnonymous),
     "<head><script src=/x></script>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\">"
     "<script src=/x></script>"},
    {"preload of a module", preload_of("https://a.test/x", "script"),
     "<head><script type=module src=/x></script>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
     "crossorigin=\"anonymous\"><script type=module src=/x></script>"},
    {"preload of a module with credentials", preload_of("https://a.test/x", "script"),
     "<head><script type=module src=/x crossorigin=use-credentials></script>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
     "crossorigin=\"use-credentials\">"
     "<script type=module src=/x crossorigin=use-credentials></script>"},
    {"preload of what a modulepreload fetches", preload_of("https://a.test/x", "script"),
     "<head><link rel=modulepreload href=/x integrity=sha256-A>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
     "crossorigin=\"anonymous\" integrity=\"sha256-A\">"
     "<link rel=modulepreload href=/x integrity=sha256-A>"},
    {"preload beside a modulepreload of a worker", preload_of("https://a.test/x", "script"),
     "<head><link rel=modulepreload as=worker href=/x>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\">"
     "<link rel=modulepreload as=worker href=/x>"},
    {"preload with the mode of an image", preload_of("https://a.test/x", "image"),
     "<head><img src=/x crossorigin integrity=sha256-A>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"image\" "
     "crossorigin=\"anonymous\"><img src=/x crossorigin integrity=sha256-A>"},
    {"preload with the mode of the image of a picture", preload_of("https://a.test/x", "image"),
     "<head><picture><source srcset='/x 2x'><img src=/y crossorigin=use-credentials></picture>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"image\" "
     "crossorigin=\"use-credentials\"><picture><source srcset='/x 2x'>"
     "<img src=/y crossorigin=use-credentials></picture>"},
    {"preload with the recorded mode beside elements of other types",
     preload_of("https://a.test/x", "fetch", CrossOrigin::kAnonymous),
     "<head><script src=/x></script><img src=/x>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"fetch\" "
     "crossorigin=\"anonymous\"><script src=/x></script><img src=/x>"},
    {"preload of a font beside elements", preload_of("https://a.test/x", "font"),
     "<head><link rel=stylesheet href=/x>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"font\" "
     "crossorigin=\"anonymous\"><link rel=stylesheet href=/x>"},
    {"preload with the mode of the script is there", preload_of("https://a.test/x", "script"),
     "<head><link rel=preload as=script href=/x crossorigin><script src=/x crossorigin></script>",
     "", 0},
    {"preload without the mode of the script is there", preload_of("https://a.test/x", "script"),
     "<head><link rel=preload as=script href=/x><script src=/x crossorigin></script>",
     "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
     "crossorigin=\"anonymous\"><link rel=preload as=script href=/x>"
     "<script src=/x crossorigin></script>"},
    {"preconnect", change_of(ChangeKind::kPreconnect, "https://B.test:443/x"), "<head>",
     "<head><link rel=\"preconnect\" href=\"https://b.test\">"},
    {"preconnect that is there", change_of(ChangeKind::kPreconnect, "https://b.test"),
     "<head><link rel=preconnect href=//b.test>", "", 0},
    // Priority.
    {"priority of an image", change_of(ChangeKind::kPriorityHigh, "https://a.test/d/x.png"),
     "<img src=x.png>", "<img fetchpriority=\"high\" src=x.png>"},
    {"priority is replaced", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<IMG FetchPriority = 'high' SRC=\"/x\"/>", "<IMG fetchpriority=\"low\" SRC=\"/x\"/>"},
    {"first of two priorities is replaced", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<img fetchpriority=high src=/x fetchpriority=auto>",
     "<img fetchpriority=\"low\" src=/x fetchpriority=auto>"},
    {"priority that is there", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<img src=/x fetchpriority=LOW>", "", 0},
    {"first src wins", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<img src=/y src=/x>", "", 0},
    {"priority of every element", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<script src=/x></script><link rel=stylesheet href=/x><iframe src=/x></iframe><image src=/x>",
     "<script fetchpriority=\"low\" src=/x></script><link fetchpriority=\"low\" rel=stylesheet "
     "href=/x><iframe fetchpriority=\"low\" src=/x></iframe><image fetchpriority=\"low\" src=/x>",
     4},
    {"priority of what is not fetched", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<link rel=canonical href=/x><script src=/x type=text/template></script><a href=/x>"
     "<script nomodule src=/x></script>",
     "", 0},
    {"references in a URL", change_of(ChangeKind::kPriorityLow, "https://a.test/x?a=1&b=2&copy=3"),
     "<img src='/x?a=1&amp;b=2&copy=3'>",
     "<img fetchpriority=\"low\" src='/x?a=1&amp;b=2&copy=3'>"},
    {"spaces and line ends in a URL", change_of(ChangeKind::kPriorityLow, "https://a.test/xy"),
     "<img src=' /x\ny\t'>", "<img fetchpriority=\"low\" src=' /x\ny\t'>"},
    {"fragments in URLs", change_of(ChangeKind::kPriorityLow, "https://a.test/x#g"),
     "<img src=/x#f>", "<img fetchpriority=\"low\" src=/x#f>"},
    {"srcset", change_of(ChangeKind::kPriorityLow, "https://a.test/d/b"),
     "<img src=a srcset='b 1x, c 2x'><link rel=preload as=image imagesrcset='c 1x,b 2x'>",
     "<img fetchpriority=\"low\" src=a srcset='b 1x, c 2x'>"
     "<link fetchpriority=\"low\" rel=preload as=image imagesrcset='c 1x,b 2x'>",
     2},
    // Where elements are.
    {"in comments, templates, scripts, titles and noscript",
     change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<!--<img src=/x>--><template><img src=/x></template><script>'<img src=/x>'</script>"
     "<title><img src=/x></title><noscript><img src=/x></noscript><svg><image src=/x /></svg>",
     "", 0},
    {"after an unclosed tag", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<div <img src=/x>", "", 0},
    {"tag that does not end", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<img src=/x", "", 0},
    {"slashes between attributes", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<img/src=\"/x\"/=y>", "<img fetchpriority=\"low\"/src=\"/x\"/=y>"},
    {"base", change_of(ChangeKind::kPriorityLow, "https://b.test/c/x"),
     "<img src=x><base target=y><base href=//b.test/c/><base href=//c.test/><img src=x>",
     "<img src=x><base target=y><base href=//b.test/c/><base href=//c.test/>"
     "<img fetchpriority=\"low\" src=x>"},
    {"base in a template", change_of(ChangeKind::kPriorityLow, "https://a.test/d/x"),
     "<template><base href=//b.test/></template><img src=x>",
     "<template><base href=//b.test/></template><img fetchpriority=\"low\" src=x>"},
    {"base of another scheme", change_of(ChangeKind::kPriorityLow, "https://a.test/d/x"),
     "<base href=data:,x><img src=x>", "<base href=data:,x><img fetchpriority=\"low\" src=x>"},
    // Async, defer.
    {"async", change_of(ChangeKind::kAsync, "https://a.test/x"), "<script src='/x'></script>",
     "<script async=\"\" src='/x'></script>"},
    {"async in the place of defer", change_of(ChangeKind::kAsync, "https://a.test/x"),
     "<script defer src=/x DEFER=defer></script>", "<script async=\"\"  src=/x ></script>"},
    {"defer beside async", change_of(ChangeKind::kDefer, "https://a.test/x"),
     "<script src=/x async=\"\"defer></script>", "<script src=/x defer></script>"},
    {"defer that is there", change_of(ChangeKind::kDefer, "https://a.test/x"),
     "<script src=/x defer></script>", "", 0},
    {"removed before a name of equals", change_of(ChangeKind::kDefer, "https://a.test/x"),
     "<script src=/x a async='1'=b></script>", "<script defer=\"\" src=/x a /=b></script>"},
    {"async of a module", change_of(ChangeKind::kAsync, "https://a.test/x"),
     "<script type=Module src=/x></script>", "<script async=\"\" type=Module src=/x></script>"},
    {"defer of a module", change_of(ChangeKind::kDefer, "https://a.test/x"),
     "<script type=module src=/x></script>", "", 0},
    {"async of types that are scripts", change_of(ChangeKind::kAsync, "https://a.test/x"),
     "<script type='' src=/x></script><script type=' Text/JavaScript ' src=/x></script>"
     "<script language=JavaScript1.2 src=/x></script>",
     "<script async=\"\" type='' src=/x></script>"
     "<script async=\"\" type=' Text/JavaScript ' src=/x></script>"
     "<script async=\"\" language=JavaScript1.2 src=/x></script>",
     3},
    {"async of types that are none", change_of(ChangeKind::kAsync, "https://a.test/x"),
     "<script type=' ' src=/x></script><script type='text/javascript;charset=utf-8' src=/x>"
     "</script><script language=vbscript src=/x></script>",
     "", 0},
    {"async without src", change_of(ChangeKind::kAsync, "https://a.test/d/page?q"),
     "<script></script><script src></script><script src=''></script>", "", 0},
    {"async of an image", change_of(ChangeKind::kAsync, "https://a.test/x"), "<img src=/x>", "", 0},
    // Lazy.
    {"lazy", change_of(ChangeKind::kLazy, "https://a.test/x"),
     "<img src=/x loading=eager><iframe src=/x>",
     "<img src=/x loading=\"lazy\"><iframe loading=\"lazy\" src=/x>", 2},
    {"lazy image by a source of its picture", change_of(ChangeKind::kLazy, "https://a.test/x"),
     "<picture><source srcset='/w 1x, /x 2x'></source><script>1</script><template><img></template>"
     "<img src=/y></picture>",
     "<picture><source srcset='/w 1x, /x 2x'></source><script>1</script><template><img></template>"
     "<img loading=\"lazy\" src=/y></picture>"},
    {"priority by a source of the picture", change_of(ChangeKind::kPriorityLow, "https://a.test/x"),
     "<picture><source srcset=/x><img src=/y><img src=/z></picture>",
     "<picture><source srcset=/x><img fetchpriority=\"low\" src=/y><img src=/z></picture>"},
    {"sources that are of no image", change_of(ChangeKind::kLazy, "https://a.test/x"),
     "<picture><source srcset=/x></picture><img src=/y><video><source srcset=/x></video>"
     "<img src=/y><picture><source srcset=/x><p><img src=/y></p></picture>"
     "<picture><template><source srcset=/x></template><img src=/y></picture>",
     "", 0},
    {"lazy script", change_of(ChangeKind::kLazy, "https://a.test/x"), "<script src=/x></script>",
     "", 0},
};

TEST(ChangeDocument, MakesEveryChangeOfTheTable) {
  for (const ChangeCase& one : kChangeCases) {
    auto const page = changed_page(one.before, {one.change});
    EXPECT_EQ(page.text, one.after.empty() ? one.before : one.after) << one.why;
    EXPECT_EQ(page.changed(), one.changed) << one.why;
  }
}

TEST(ChangeDocument, ChangesNothingTheSecondTime) {
  for (const ChangeCase& one : kChangeCases) {
    auto const once = changed_page(one.before, {one.change});
    auto const twice = changed_page(once.text, {one.change});
    EXPECT_EQ(twice.text, once.text) << one.why;
    EXPECT_EQ(twice.changed(), 0U) << one.why;
    EXPECT_EQ(twice.document.outcomes[0].places.size(), once.document.outcomes[0].places.size())
        << one.why;
  }
}

TEST(ChangeDocument, SaysWhatWasThereAndWhatLimitsTheEffect) {
  EXPECT_THAT(changed_page("<link rel=preconnect href=//b.test>",
                           {change_of(ChangeKind::kPreconnect, "https://b.test")})
                  .places(),
              ElementsAre("already"));
  EXPECT_THAT(changed_page("<script type=module src=/x></script><script src=/x></script>",
                           {change_of(ChangeKind::kDefer, "https://a.test/x")})
                  .places(),
              ElementsAre("already: a module script is always deferred", "changed"));
  auto const set =
      changed_page("<p><img srcset=/x>", {change_of(ChangeKind::kLazy, "https://a.test/x")});
  EXPECT_THAT(set.places(),
              ElementsAre("changed: by srcset: the browser may choose another of its images"));
  EXPECT_EQ(set.document.outcomes[0].places[0].offset_bytes, 3U);
  EXPECT_EQ(set.document.outcomes[0].places[0].tag, "img");
  EXPECT_THAT(changed_page("<p>", {change_of(ChangeKind::kLazy, "https://a.test/x")}).places(),
              IsEmpty());
}

TEST(ChangeDocument, MakesSeveralChangesOfOneTag) {
  auto const page = changed_page("<head><script src=/x defer></script><img src=/y>",
                                 {change_of(ChangeKind::kAsync, "https://a.test/x"),
                                  change_of(ChangeKind::kPriorityHigh, "https://a.test/x"),
                                  change_of(ChangeKind::kLazy, "https://a.test/y"),
                                  change_of(ChangeKind::kPriorityLow, "https://a.test/y"),
                                  preload_of("https://a.test/x", "script"),
                                  change_of(ChangeKind::kPreconnect, "https://b.test/")});
  EXPECT_EQ(page.text,
            "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\">"
            "<link rel=\"preconnect\" href=\"https://b.test\">"
            "<script async=\"\" fetchpriority=\"high\" src=/x ></script>"
            "<img loading=\"lazy\" fetchpriority=\"low\" src=/y>");
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(page.changed(i), 1U);
}

TEST(ChangeDocument, GivesAPreloadTheNonceOfTheCallerIfNoElementFetchesIt) {
  auto preload = preload_of("https://a.test/x", "script");
  preload.nonce = "abc";
  EXPECT_EQ(changed_page("<head><p>", {preload}).text,
            "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
            "nonce=\"abc\"><p>");
  auto const fetched = changed_page("<head><script src=/x integrity=sha256-A></script>", {preload});
  EXPECT_EQ(fetched.text,
            "<head><link rel=\"preload\" href=\"https://a.test/x\" as=\"script\" "
            "integrity=\"sha256-A\"><script src=/x integrity=sha256-A></script>");
  EXPECT_EQ(fetched.document.outcomes[0].integrity, "sha256-A");
}

TEST(ChangeDocument, PreloadsInTwoModesWhatIsFetchedInTwo) {
  std::vector<DocumentChange> const changes = {
      preload_of("https://a.test/x", "script"),
      preload_of("https://a.test/x", "script", CrossOrigin::kAnonymous)};
  std::string const plain = "<link rel=\"preload\" href=\"https://a.test/x\" as=\"script\"";
  std::string const anonymous = plain + " crossorigin=\"anonymous\"";
  std::string const one =
      "<script src=/x crossorigin integrity=sha256-A></script><script src=/y></script>";
  EXPECT_EQ(changed_page("<head>" + one, changes).text,
            "<head>" + plain + ">" + anonymous + " integrity=\"sha256-A\">" + one);
  std::string const both = one + "<script src=/x nonce=n></script>";
  EXPECT_EQ(changed_page("<head>" + both, changes).text,
            "<head>" + plain + " nonce=\"n\">" + anonymous + " integrity=\"sha256-A\">" + both);
}

TEST(ChangeDocument, ConnectsInTheModeThatIsAskedForWhateverTheElements) {
  EXPECT_EQ(changed_page("<head><script src=//b.test/x crossorigin></script>",
                         {change_of(ChangeKind::kPreconnect, "https://b.test")})
                .text,
            "<head><link rel=\"preconnect\" href=\"https://b.test\">"
            "<script src=//b.test/x crossorigin></script>");
}

TEST(ChangeDocument, MakesTheFirstOfTwoChangesThatMeetInASourceSet) {
  std::vector<DocumentChange> const changes = {
      change_of(ChangeKind::kPriorityHigh, "https://a.test/x"),
      change_of(ChangeKind::kPriorityLow, "https://a.test/y")};
  auto const once = changed_page("<img srcset='/y 1x, /x 2x'>", changes);
  EXPECT_EQ(once.text, "<img fetchpriority=\"high\" srcset='/y 1x, /x 2x'>");
  EXPECT_EQ(once.changed(0), 1U);
  EXPECT_THAT(once.places(1),
              ElementsAre("refused: another change sets the priority of this element"));
  EXPECT_EQ(changed_page(once.text, changes).text, once.text);
}

TEST(ChangeDocument, LeavesTagsWithTooManyAttributes) {
  std::string attributes;
  for (std::size_t i = 1; i < kTagAttributesMax; ++i) attributes += " a" + std::to_string(i);
  auto const lazy = change_of(ChangeKind::kLazy, "https://a.test/x");
  EXPECT_EQ(changed_page("<img src=/x" + attributes + ">", {lazy}).changed(), 1U);
  EXPECT_EQ(changed_page("<img src=/x" + attributes + " b>", {lazy}).changed(), 0U);
}

TEST(ChangeDocument, WithoutChangesIsTheSame) {
  EXPECT_EQ(changed_page("<p>\r\n\xFF", {}).text, "<p>\r\n\xFF");
}

TEST(ChangeDocument, KeepsByteOrderMarkAndDeclaration) {
  auto const preload = preload_of("https://b.test/x", "image");
  std::string const link = "<link rel=\"preload\" href=\"https://b.test/x\" as=\"image\">";
  EXPECT_EQ(changed_page("\xEF\xBB\xBF<head>", {preload}, "windows-1252").text,
            "\xEF\xBB\xBF<head>" + link);
  auto const declared = changed_page("<head><meta charset=gbk><p>", {preload}, "");
  EXPECT_EQ(declared.text, "<head><meta charset=gbk>" + link + "<p>");
  EXPECT_EQ(declared.document.charset_to_state, "");
  auto const late = changed_page("<head><script></script><meta charset=gbk><p>", {preload}, "");
  EXPECT_EQ(late.text, "<head>" + link + "<script></script><meta charset=gbk><p>");
  EXPECT_EQ(late.document.charset_to_state, "gbk");
}

TEST(ChangeDocument, ReadsUrlsInTheEncodingOfTheDocument) {
  // The path is sent in UTF-8, the query in the document's encoding.
  auto const change = change_of(ChangeKind::kLazy, "https://a.test/%C3%A9?%E9");
  EXPECT_EQ(changed_page("<img src='/\xE9?\xE9'>", {change}, "windows-1252").text,
            "<img loading=\"lazy\" src='/\xE9?\xE9'>");
  EXPECT_EQ(changed_page("<img src='/\xE9?\xE9'>", {change}, "").changed(), 1U);
  EXPECT_EQ(changed_page("<img src='/&eacute;?\xE9'>", {change}, "latin1").changed(), 1U);
  EXPECT_EQ(changed_page("<img src='/\xC3\xA9'>",
                         {change_of(ChangeKind::kLazy, "https://a.test/\xC3\xA9")}, "utf8")
                .changed(),
            1U);
  EXPECT_EQ(changed_page("<img src='/\xD6\xD0'>",
                         {change_of(ChangeKind::kLazy, "https://a.test/\xE4\xB8\xAD")}, "GBK")
                .changed(),
            1U);
  EXPECT_EQ(changed_page("<img src='/\xFF\xFF'>", {change}, "gbk").changed(), 0U);
}

TEST(ChangeDocument, RefusesDocumentsThatItCannotEdit) {
  auto const lazy = change_of(ChangeKind::kLazy, "https://a.test/x");
  EXPECT_EQ(error_of("<p>", {lazy}, "utf-16"),
            "documents in the encoding 'utf-16' cannot be edited");
  EXPECT_EQ(error_of("<p>", {lazy}, "ISO-2022-JP"),
            "documents in the encoding 'iso-2022-jp' cannot be edited");
  EXPECT_EQ(error_of("<p>", {lazy}, "hz-gb-2312"),
            "documents in the encoding 'hz-gb-2312' cannot be edited");
  EXPECT_EQ(error_of("\xFF\xFE<\0p\0", {lazy}),
            "documents in the encoding 'utf-16' cannot be edited");
  EXPECT_EQ(error_of("<!-- x", {preload_of("https://a.test/x", "image")}),
            "the document has no place for a <link>: it has no head within 64 KiB");
  EXPECT_EQ(error_of("<!-- x", {lazy}), "");
  std::string images;
  for (std::size_t i = 0; i < kPlacesMax; ++i) images += "<img src=/x>";
  EXPECT_EQ(error_of(images, {lazy}), "");
  EXPECT_EQ(error_of(images + "<img src=/x>", {lazy}),
            "the document has more than 100,000 elements to change");
  EXPECT_EQ(error_of(std::string(kDocumentBytesMax + 1, 'x'), {lazy}),
            "the document is larger than 64 MiB");
  EXPECT_EQ(error_of("<p>", {lazy}, "", "about:blank"),
            "the document's URL is not an http or https URL");
}

TEST(ChangeDocument, RefusesInvalidAndContradictingChanges) {
  EXPECT_EQ(error_of("<p>", {change_of(ChangeKind::kLazy, "/x")}),
            "change 1: '/x' is not an http or https URL");
  EXPECT_EQ(error_of("<p>", {preload_of("https://a.test/x", "video")}),
            "change 1: a preload needs a type of resource: script, style, image, font or fetch, "
            "not 'video'");
  auto const async = change_of(ChangeKind::kAsync, "https://a.test/x");
  for (auto const kind : {ChangeKind::kAsync, ChangeKind::kDefer, ChangeKind::kInline}) {
    EXPECT_EQ(error_of("<p>", {async, change_of(kind, "https://A.test/./x")}),
              "change 2: it contradicts or repeats another change of 'https://a.test/x'");
  }
  EXPECT_EQ(error_of("<p>", {async, change_of(ChangeKind::kPriorityHigh, "https://a.test/x")}), "");
  EXPECT_EQ(error_of("<p>", {async, change_of(ChangeKind::kDefer, "https://a.test/y")}), "");
}

TEST(ChangeDocument, ConnectsWithCredentialsAndWithout) {
  auto const plain = change_of(ChangeKind::kPreconnect, "https://a.test/x");
  auto anonymous = plain;
  anonymous.cross_origin = CrossOrigin::kAnonymous;
  EXPECT_EQ(error_of("<p>", {plain, anonymous}), "");
  EXPECT_NE(error_of("<p>", {plain, plain}), "");
}

}  // namespace
}  // namespace reprise::inject
