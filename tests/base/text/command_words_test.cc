#include "base/text/command_words.h"

#include <gmock/gmock.h>

using namespace reprise;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CommandWords, AreThoseOfAShell) {
  EXPECT_THAT(*command_words(" a.reprise  https://a.test/ --link\twpt:4g\n"),
              ElementsAre("a.reprise", "https://a.test/", "--link", "wpt:4g"));
  EXPECT_THAT(*command_words(R"('my site.reprise' --inject="a b" c\ d '' e'f'"g")"),
              ElementsAre("my site.reprise", "--inject=a b", "c d", "", "efg"));
  EXPECT_THAT(*command_words(R"('a\b' "c\"d")"), ElementsAre(R"(a\b)", "c\"d"));
  EXPECT_THAT(*command_words("  "), IsEmpty());
}

TEST(CommandWords, MustEndTheirQuotations) {
  EXPECT_FALSE(command_words("'a"));
  EXPECT_FALSE(command_words("a\""));
}
