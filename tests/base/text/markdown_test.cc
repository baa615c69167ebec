#include "base/text/markdown.h"

#include <gtest/gtest.h>

#include "base/text/shell.h"

namespace reprise {
namespace {

TEST(Markdown, TakesNothingOfATextAsItsOwn) {
  EXPECT_EQ(markdown_escaped("a_b*c [x](y) <img> &amp; @me #1 | `"),
            "a\\_b\\*c \\[x\\](y) &lt;img> &amp;amp; \\@me \\#1 \\| \\`");
  EXPECT_EQ(safe_text("a\n_", true), "a\\\\x0a\\_") << "one line";
  EXPECT_EQ(safe_text("_", false), "_");
}

TEST(Markdown, FencesCodeByMoreBackticksThanItHas) {
  EXPECT_EQ(markdown_code("x_y"), "`x_y`");
  EXPECT_EQ(markdown_code("a`b"), "`` a`b ``");
  EXPECT_EQ(markdown_code("``"), "``` `` ```");
}

TEST(Shell, QuotesWhatIsNoPlainWord) {
  EXPECT_EQ(shell_quoted("--link=wpt:4g,loss=1%"), "--link=wpt:4g,loss=1%");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("it's $x"), "'it'\\''s $x'");
}

}  // namespace
}  // namespace reprise
