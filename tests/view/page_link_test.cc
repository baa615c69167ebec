#include "view/page_link.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(PageLink, IsRelative) {
  EXPECT_EQ(link_between("/a/why.html", "/a/loads.html"), "loads.html");
  EXPECT_EQ(link_between("/a/b/why.html", "/a/c/loads.html"), "../c/loads.html");
  EXPECT_EQ(link_between("why.html", "pages/loads.html"), "pages/loads.html");
  EXPECT_EQ(link_between("pages/../why.html", "./loads.html"), "loads.html");
  EXPECT_EQ(link_between("-", "loads.html"), "loads.html");
}

TEST(PageLink, IsEncoded) {
  EXPECT_EQ(link_between("/a/x", "/a/b c#1?\"<\xc3\xa4"), "b%20c%231%3F%22%3C%C3%A4");
}

}  // namespace
}  // namespace reprise
