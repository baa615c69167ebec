// Which requests an element of a document shows to be the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/differences/made_page.h"

namespace reprise {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

MadePage page_with(std::string_view element) {
  MadePage page;
  page.add("https://a.test/", "text/html", std::string(element) + "<p>words</p>");
  return page;
}

TEST(SamePlace, AnElementThatOnlyNamesAHostMakesNothingTheSame) {
  auto a = page_with("<link rel=preconnect href=https://one.test>");
  auto b = page_with("<link rel=preconnect href=https://two.test>");
  a.add("https://one.test/chat.js", "text/javascript", "chat()");
  b.add("https://two.test/fonts.js", "text/javascript", "fonts()");
  auto const found = differences_of(a, b).alignment;
  EXPECT_THAT(found.only_a, SizeIs(1));
  EXPECT_THAT(found.only_b, SizeIs(1));
}

TEST(SamePlace, AFileIsFoundAmongOthersOfItsHost) {
  auto a = page_with("<img src=https://img.test/hero.png>");
  auto b = page_with("<img src=https://img.test/summer.png>");
  a.add("https://img.test/hero.png", "image/png", "a hero");
  a.add("https://img.test/gone.gif", "image/gif", "gone");
  b.add("https://img.test/summer.png", "image/png", "a summer");
  b.add("https://img.test/came.gif", "image/gif", "it came");
  auto const made = differences_of(a, b);
  ASSERT_THAT(made.alignment.only_a, SizeIs(1));
  ASSERT_THAT(made.alignment.only_b, SizeIs(1));
  EXPECT_EQ(made.a.exchanges[made.alignment.only_a.front()].target, "/gone.gif");
  EXPECT_EQ(made.b.exchanges[made.alignment.only_b.front()].target, "/came.gif");
}

TEST(SamePlace, AFileWithoutANameIsFoundByItsHost) {
  auto a = page_with("<iframe src='https://one.test/'></iframe>");
  auto b = page_with("<iframe src='https://two.test/'></iframe>");
  a.add("https://one.test/", "text/html", "<p>one");
  b.add("https://two.test/", "text/html", "<p>two");
  EXPECT_THAT(differences_of(a, b).alignment.only_a, IsEmpty());
  a.add("https://one.test/more.js", "text/javascript", "more()");
  EXPECT_THAT(differences_of(a, b).alignment.only_a, SizeIs(1));
}

}  // namespace
}  // namespace reprise
