#include "tools/gate/budget_file.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::EndsWith;

BudgetFinding requests_finding(std::optional<double> median) {
  BudgetFinding made;
  made.url = "https://a.test/";
  made.line = {.kind = BudgetLine::Kind::kCount, .name = "script", .limit = 2};
  made.median = median;
  return made;
}

TEST(BudgetsText, SaysHowManyBudgetsWereNotMeasured) {
  auto const within = requests_finding(2), over = requests_finding(3);
  auto const unknown = requests_finding(std::nullopt);
  EXPECT_EQ(budgets_text({}, false), "");
  EXPECT_THAT(budgets_text({within, within}, false), EndsWith("\nB keeps its budget.\n"));
  EXPECT_THAT(budgets_text({within, unknown, unknown}, false),
              EndsWith("\nB keeps what was measured of its budget; 2 of 3 budgets were not "
                       "measured.\n"));
  EXPECT_THAT(budgets_text({within, unknown}, true),
              EndsWith("; 1 of 2 budgets was not measured.\n"));
  EXPECT_THAT(budgets_text({unknown}, false), EndsWith("\n1 of 1 budget was not measured.\n"));
  EXPECT_THAT(budgets_text({over, unknown}, false), EndsWith("\nB is over 1 budget.\n"));
  EXPECT_TRUE(any_over({over, unknown}));
  EXPECT_FALSE(any_over({within, unknown}));
}

}  // namespace
}  // namespace reprise
