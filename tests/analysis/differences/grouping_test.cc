// Which differences come and go together.

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace reprise
