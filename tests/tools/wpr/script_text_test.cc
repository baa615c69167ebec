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

TEST(WprScripts, WhatIsFitCanBeInjected) {
  for (auto const* const script :
       {"'</script>'", "'<!--'", "a[b[0]]>1", "'\xE2\x80\xA8'", "a\rb", "'</</script'", "]]]>>"}) {
    auto const fit = fit_for_documents(script);
    EXPECT_TRUE(inject::InjectedScript::create({.document = {fit}, .worker = {}})) << fit;
  }
}

}  // namespace
}  // namespace reprise::wpr
