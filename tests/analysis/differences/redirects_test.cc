// Redirects that lead elsewhere.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/differences/made_page.h"

namespace reprise {
namespace {

using testing::HasSubstr;

void add_redirect(MadePage& page, std::string_view url, std::string_view to,
                  std::string_view body = "") {
  auto& hop = page.add(url, "text/html", body, {{.name = "Location", .value = to}});
  hop.status = 301;
}

MadePage page_of(std::string_view to, std::string_view body = "") {
  MadePage page;
  add_redirect(page, "http://e.test/", to, body);
  page.add("https://www.e.test/", "text/html", "<p>words</p>");
  return page;
}

TEST(Redirects, OneMoreHopOnTheWayToTheSameHostIsSeen) {
  MadePage b;
  add_redirect(b, "http://e.test/", "https://e.test/");
  add_redirect(b, "https://e.test/", "https://www.e.test/");
  b.add("https://www.e.test/", "text/html", "<p>words</p>");
  auto const found = differences_of(page_of("https://www.e.test/"), b);
  ASSERT_EQ(found.groups.size(), 1u);
  EXPECT_TRUE(found.groups[0].can_be_put_in);
  EXPECT_THAT(found.groups[0].title,
              HasSubstr("http://e.test/: redirect: 301 to https://e.test/ instead of 301 to "
                        "https://www.e.test/, with a request for https://e.test/"));
}

TEST(Redirects, ToAnotherSchemeAreSeen) {
  auto const found = differences_of(page_of("http://www.e.test/"), page_of("https://www.e.test/"));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].kind, DifferenceKind::kRedirect);
}

TEST(Redirects, ToTheSamePlaceInOtherWordsAreTheSame) {
  EXPECT_TRUE(
      differences_of(page_of("/next?t=1"), page_of("http://E.test:80/next?t=2")).all.empty());
  EXPECT_TRUE(differences_of(page_of("//e.test/a"), page_of("/a")).all.empty());
  EXPECT_TRUE(differences_of(page_of("app://open/1"), page_of("app://open/2")).all.empty());
}

TEST(Redirects, TheirBodiesAreNotCompared) {
  auto const a = page_of("https://www.e.test/", "<a href=https://www.e.test/>moved</a>");
  auto const b = page_of("https://www.e.test/", "<a href=https://www.e.test/>elsewhere</a>");
  EXPECT_TRUE(differences_of(a, b).all.empty());
}

}  // namespace
}  // namespace reprise
