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

}  // namespace
}  // namespace reprise
