#include "tools/compare/comparison_junit.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::HasSubstr;

BudgetFinding finding_of(std::string name, std::optional<double> median) {
  BudgetFinding made;
  made.url = "https://a.test/";
  made.configuration = {.browser = "chromium", .protocol = "h2", .link = "none", .cache = "cold"};
  made.line = {.kind = BudgetLine::Kind::kCount, .name = std::move(name), .limit = 2};
  made.median = median;
  return made;
}

TEST(ComparisonJunit, HasACaseForEachLineOfABudget) {
  auto const text = comparison_junit(
      {}, {}, false, {finding_of("script", 3), finding_of("font", 2), finding_of("image", {})});
  EXPECT_THAT(text, HasSubstr("<testsuite name=\"budget of https://a.test/ (chromium, h2, link "
                              "none, cold)\" tests=\"3\" failures=\"1\" errors=\"0\" "
                              "skipped=\"1\">"));
  EXPECT_THAT(text, HasSubstr("name=\"budget script requests\">\n"
                              "      <failure message=\"script requests 3 of 2: over\"/>"));
  EXPECT_THAT(text, HasSubstr("name=\"budget font requests\"/>"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"image requests: not measured\"/>"));
}

TEST(ComparisonJunit, OfNoComparisonIsAnError) {
  auto const text = error_junit("exit status 3: \x1b<see above>");
  EXPECT_THAT(text, HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">"));
  EXPECT_THAT(text, HasSubstr("      <error message=\"exit status 3: "));
  EXPECT_THAT(text, HasSubstr("&lt;see above&gt;\"/>"));
  EXPECT_THAT(text, testing::EndsWith("</testsuites>\n"));
}

}  // namespace
}  // namespace reprise
