#include "tools/wpr/input/script_text.h"

#include <gtest/gtest.h>

#include "inject/rewrite.h"

namespace reprise::wpr {
namespace {

using std::chrono::milliseconds;

TEST(WprScripts, FillsInTheSeedWithAndWithoutBraces) {
  EXPECT_EQ(fill_in("a = {{WPR_TIME_SEED_TIMESTAMP}}; b = WPR_TIME_SEED_TIMESTAMP;",
                    milliseconds(1523318400000), ""),
            "a = 1523318400000; b = 1523318400000;");
}

TEST(WprScripts, FillsInTheConstantOfMathRandom) {
  constexpr const char* kScript = "x = {{WPR_CONSTANT_RANDOM_RESULT}}, WPR_CONSTANT_RANDOM_RESULT";
  EXPECT_EQ(fill_in(kScript, milliseconds(1), "0.5"), "x = 0.5, 0.5");
  EXPECT_EQ(fill_in(kScript, milliseconds(1), ""), "x = null, null");
}

TEST(WprScripts, LeavesAsciiAsItIs) {
  std::string const script = "if (a < b && c > d) { e = '</div>'; }\n";
  EXPECT_EQ(fit_for_documents(script), script);
}

TEST(WprScripts, EscapesWhatCannotBeInEveryDocument) {
  EXPECT_EQ(fit_for_documents("'\xC3\xA4 \xF0\x9F\x98\x80 \xFF'"),
            "'\\u00e4 \\ud83d\\ude00 \\ufffd'");
  EXPECT_EQ(fit_for_documents("\xEF\xBB\xBF"
                              "a\r\nb"),
            "a\nb");
  EXPECT_EQ(fit_for_documents("s = '</SCRIPT>'"), "s = '<\\/SCRIPT>'");
  EXPECT_EQ(fit_for_documents("s = '<!-- x'"), "s = '<\\!-- x'");
  EXPECT_EQ(fit_for_documents("if (a[b[0]]>c) d()"), "if (a[b[0]] >c) d()");
}

TEST(WprScripts, AnEscapedCharacterStaysItselfInLiterals) {
  EXPECT_EQ(fit_for_documents("'\\\xC3\xA4'"), "'\\u00e4'");
  EXPECT_EQ(fit_for_documents("'\\\\\xC3\xA4'"), "'\\\\\\u00e4'")
      << "an escaped backslash before it";
  EXPECT_EQ(fit_for_documents("'\\\\\\\xC3\xA4'"), "'\\\\\\u00e4'");
  EXPECT_EQ(fit_for_documents("a = /[\\\xE2\x80\x93]/.test(`\\\xE2\x80\x93`)"),
            "a = /[\\u2013]/.test(`\\u2013`)");
  EXPECT_EQ(fit_for_documents("'a\\\xE2\x80\xA8"
                              "b'"),
            "'a\\\nb'")
      << "a line that continues";
}

TEST(WprScripts, WhiteSpaceBetweenTokensStaysWhiteSpace) {
  EXPECT_EQ(fit_for_documents("a\xC2\xA0=\xEF\xBB\xBF'\xC2\xA0'\f;\v// \xE3\x80\x80\xE2\x80\xA8"
                              "b"),
            "a = '\\u00a0' ; // \\u3000\nb");
  EXPECT_EQ(fit_for_documents("`\xC2\xA0${a\xC2\xA0+`}\xC2\xA0`}\xC2\xA0`\xC2\xA0;"),
            "`\\u00a0${a +`}\\u00a0`}\\u00a0` ;");
}

TEST(WprScripts, NamesBeyondAsciiStayNames) {
  EXPECT_EQ(fit_for_documents("var \xC3\xA4, \xF0\x9D\x92\xB3;"), "var \\u00e4, \\u{1d4b3};");
}

TEST(WprScripts, ASlashDividesOrBeginsARegularExpression) {
  // In literals a no-break space becomes an escape, elsewhere a space.
  for (std::string const code :
       {"a / '", "a() / '", "a[0] / '", "a++ / '", "1. / '", "a.return / '", "/[/'\\/]/g / '",
        "'/' / '", "// it's\n'", "/*/ it's */ '", "x = a // it's\n / '"}) {
    EXPECT_EQ(fit_for_documents(code + "\xC2\xA0'\xC2\xA0"), code + "\\u00a0' ") << code;
  }
  for (std::string const code :
       {"/'", "= /'", "return /'", "(/'", "{}\n/'", "if (a(b)) /'", "a / /'", "a = b\n;/'"}) {
    EXPECT_EQ(fit_for_documents(code + "\xC2\xA0/\xC2\xA0"), code + "\\u00a0/ ") << code;
  }
}

TEST(WprScripts, ACommentAsInHtmlStaysAComment) {
  EXPECT_EQ(fit_for_documents("<!-- it's old\na\xC2\xA0= '<!--';\n// <!--"),
            "// it's old\na = '<\\!--';\n// <\\!--");
  EXPECT_EQ(fit_for_documents("/<!--/u.test(a)"), "/<\\x21--/u.test(a)");
}

TEST(WprScripts, TheEndOfACdataSectionStaysItselfInLiterals) {
  EXPECT_EQ(fit_for_documents("s = ']]>'"), "s = ']]\\x3e'");
}

TEST(WprScripts, WhatIsFitCanBeInjected) {
  for (auto const* const script :
       {"'</script>'", "'<!--'", "a[b[0]]>1", "'\xE2\x80\xA8'", "a\rb", "'</</script'", "]]]>>",
        "']]>'", "<!-- a", "`]]>${']]>'}`", "/]]>/", "'\\\xC3\xA4'"}) {
    auto const fit = fit_for_documents(script);
    EXPECT_TRUE(inject::InjectedScript::create({.document = {fit}, .worker = {}})) << fit;
  }
}

}  // namespace
}  // namespace reprise::wpr
