// Which differences come and go together.

#include <gtest/gtest.h>

#include "analysis/differences/permissions.h"
#include "tests/analysis/differences/made_page.h"

namespace reprise {
namespace {

const std::string kDocument = "https://a.test/";

/// A page with that element, and a resource of the same host that it does not name.
MadePage page_of(std::string_view element, std::string_view other_url, std::string_view other) {
  MadePage page;
  page.add(kDocument, "text/html", std::string(element) + "<p>words</p>");
  page.add("https://cdn.test/app.js", "text/javascript", "app()");
  page.add(other_url, "text/javascript", other);
  return page;
}

TEST(Groups, AnElementWithADigestIsNotJoinedToOtherBodiesOfItsHost) {
  auto const element = [](std::string_view digest) {
    return "<script src=https://cdn.test/app.js integrity=" + std::string(digest) + "></script>";
  };
  auto const url = "https://cdn.test/other.js";
  auto const found = differences_of(page_of(element("sha256-AAAA"), url, "one()"),
                                    page_of(element("sha256-BBBB"), url, "two()"));
  EXPECT_EQ(found.all.size(), 2u);
  EXPECT_EQ(found.groups.size(), 2u);
}

TEST(Groups, AnotherUrlIsNotJoinedToOtherElementsOfItsHost) {
  auto const element = [](std::string_view more) {
    return "<script src=https://cdn.test/app.js" + std::string(more) + "></script>";
  };
  auto const found =
      differences_of(page_of(element(""), "https://cdn.test/t.1a2b3c4d.js", "one()"),
                     page_of(element(" async"), "https://cdn.test/t.99ff00aa.js", "two()"));
  EXPECT_EQ(found.all.size(), 3u);  // an element, a body and its URL
  EXPECT_EQ(found.groups.size(), 2u);
}

/// A document with a policy, and a script of another host that may be read by it or not.
MadePage permitting(std::string_view policy, std::string_view elements,
                    std::string_view code = "code()", std::string_view readable_by = "*") {
  MadePage page;
  page.add(kDocument, "text/html", "<p>words</p>" + std::string(elements),
           {{.name = "Content-Security-Policy", .value = policy}});
  page.add("https://cdn.test/code.js", "text/javascript", code,
           {{.name = "Access-Control-Allow-Origin", .value = readable_by}});
  return page;
}

std::string digest_of(std::string_view code) {
  return digests_of(code).back();
}

/// How many differences there are in how many groups.
std::pair<std::size_t, std::size_t> found(const MadePage& a, const MadePage& b) {
  auto const made = differences_of(a, b);
  return {made.all.size(), made.groups.size()};
}

using Found = std::pair<std::size_t, std::size_t>;

TEST(Permissions, APolicyGoesWithTheInlineCodeWhoseDigestItHas) {
  auto const page = [](std::string_view code, std::string_view more) {
    return permitting("script-src '" + digest_of(code) + "'",
                      "<script>" + std::string(code) + "</script>" + std::string(more));
  };
  EXPECT_EQ(found(page("one()", "<div>1</div>"), page("two()", "<div>2</div>")), Found(3, 2));
  // Of another code.
  EXPECT_EQ(found(permitting("script-src 'sha256-AAAA='", "<script>one()</script>"),
                  permitting("script-src 'sha256-BBBB='", "<script>two()</script>")),
            Found(2, 2));
}

TEST(Permissions, APolicyGoesWithTheElementsOfAHostThatItPermits) {
  auto const image = std::string_view("<img src=https://img.test/a.png>");
  EXPECT_EQ(
      found(permitting("img-src 'self'", ""), permitting("img-src 'self' https://img.test", image)),
      Found(2, 1));
  EXPECT_EQ(found(permitting("img-src 'self' img.test", image), permitting("img-src 'self'", "")),
            Found(2, 1));
  EXPECT_EQ(found(permitting("img-src *", ""), permitting("img-src *.test other.test", image)),
            Found(2, 2));
  // With all of them, and with nothing but them.
  auto const two = std::string(image) + "<p>same</p>" + std::string(image);
  EXPECT_EQ(found(permitting("img-src 'self'", "<p>same</p>"),
                  permitting("img-src 'self' https://img.test", two)),
            Found(3, 1));
  auto const link = "<a href=https://img.test/>images</a>";
  EXPECT_EQ(
      found(permitting("img-src 'self'", ""), permitting("img-src 'self' https://img.test", link)),
      Found(2, 2));
  // It reports there, or it is the page's own host.
  for (std::string_view const policy :
       {"img-src *; report-uri https://img.test/", "img-src a.test"}) {
    auto const own = "<link rel=canonical href=https://a.test/><img src=https://img.test/b.png>";
    EXPECT_EQ(found(permitting("img-src *", ""), permitting(policy, own)), Found(2, 2)) << policy;
  }
}

TEST(Permissions, APolicyGoesWithTheRequestsThatItLetsPass) {
  auto const a = permitting("img-src 'self'", "<img src=https://img.test/a.png>");
  auto b = permitting("img-src 'self' https://img.test", "<img src=https://img.test/a.png>");
  b.add("https://img.test/a.png", "image/png", "png");
  EXPECT_EQ(found(a, b), Found(2, 1));
  EXPECT_EQ(found(b, a), Found(2, 1));
}

TEST(Permissions, APolicyWithNewNoncesGoesWithTheirElements) {
  EXPECT_EQ(found(permitting("script-src 'unsafe-inline'", "<script>one()</script>"),
                  permitting("script-src 'nonce-abcdefgh'",
                             "<script nonce=abcdefgh>one()</script><div>2</div>")),
            Found(3, 2));
}

TEST(Permissions, OneDirectiveIsNotAnother) {
  auto const styles = std::string("; style-src 'unsafe-inline'");
  EXPECT_EQ(found(permitting("script-src 'nonce-abcdefgh'" + styles, ""),
                  permitting("script-src 'unsafe-inline'" + styles, "<script>slow()</script>")),
            Found(2, 1));
  EXPECT_EQ(found(permitting("style-src 'self'", ""),
                  permitting("style-src 'unsafe-inline'", "<script>slow()</script>")),
            Found(2, 2));
  EXPECT_EQ(found(permitting("style-src 'self'", ""),
                  permitting("style-src 'unsafe-inline'", "<style>p { top: 0 }</style>")),
            Found(2, 1));
}

TEST(Permissions, APolicyWithoutUnsafeInlineGoesWithTheInlineCode) {
  EXPECT_EQ(found(permitting("script-src 'unsafe-inline'", "<script>one()</script><h1>1</h1>"),
                  permitting("script-src 'self'", "<h1>1</h1><div>2</div>")),
            Found(3, 2));
}

TEST(Permissions, AScriptWithTheDigestOfAnotherOneGoesWithIt) {
  auto const page = [](std::string_view code) {
    auto made = permitting("", "", code);
    made.add("https://a.test/runtime.js", "text/javascript",
             "const sriHashes = { 7: '" + digest_of(code) + "' };\nload(7);\n");
    return made;
  };
  EXPECT_EQ(found(page("one()"), page("two()")), Found(2, 1));
}

/// A script that is not decoded, with an element that has its digest.
MadePage unreadable(std::string_view code, std::uint64_t size_bytes) {
  MadePage page;
  page.add(kDocument, "text/html",
           "<script src=https://cdn.test/code.js integrity=" + digest_of(code) +
               "></script><p>words</p>");
  page.add("https://cdn.test/code.js", "text/javascript", code,
           {{.name = "X-Unreadable", .value = "1"}})
      .size_bytes = size_bytes;
  return page;
}

TEST(Permissions, AnElementGoesWithTheScriptOfItsDigestThatIsNotDecoded) {
  EXPECT_EQ(found(unreadable("one()", 5), unreadable("two()", 5)), Found(2, 1));
  auto const large = kComparedBytesMax + 1;
  EXPECT_EQ(found(unreadable("one()", large), unreadable("two()", large)), Found(2, 1));
}

TEST(Permissions, BytesThatAreDigestedWithoutDecodingAreBounded) {
  auto const most = kAllComparedBytesMax;
  EXPECT_EQ(found(unreadable("one()", most), unreadable("two()", 5)), Found(2, 1));
  EXPECT_EQ(found(unreadable("one()", most + 1), unreadable("two()", most + 1)), Found(2, 2));
}

TEST(Permissions, AnElementThatIsReadAcrossOriginsGoesWithThePolicyOfItsFile) {
  auto const element = [](std::string_view more) {
    return "<script src=https://cdn.test/code.js" + std::string(more) + "></script>";
  };
  EXPECT_EQ(found(permitting("", element(""), "code()", "https://other.test"),
                  permitting("", element(" crossorigin"), "code()", "https://a.test")),
            Found(2, 1));
  EXPECT_EQ(found(permitting("", element(""), "code()", "https://other.test"),
                  permitting("", element(" async"), "code()", "https://a.test")),
            Found(2, 2));
}

TEST(Permissions, DigestsAreReadFromAnyText) {
  EXPECT_EQ(digests_named_in("x sha256-a-_/= sha1-b 'sha384-c'sha512-"),
            (std::vector<std::string>{"sha256-a+//=", "sha384-c", "sha512-"}));
}

}  // namespace
}  // namespace reprise
