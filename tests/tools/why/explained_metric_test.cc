#include "tools/why/explained_metric.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

ComparedMetric metric_with(Verdict verdict, double shift) {
  ComparedMetric made;
  made.finding.verdict = verdict;
  made.finding.shift.estimate = shift;
  return made;
}

TEST(ExplainedMetric, IsTheFirstThatIsWorseInBThenTheFirstThatIsDifferent) {
  auto const same = metric_with(Verdict::kSame, 1);
  auto const better = metric_with(Verdict::kDifferent, -5);
  auto const worse = metric_with(Verdict::kDifferent, 5);
  auto const index_in = [](const std::vector<ComparedMetric>& metrics) {
    return metric_to_explain(metrics) - metrics.begin();
  };
  EXPECT_EQ(index_in({same, better, worse, worse}), 2);
  EXPECT_EQ(index_in({same, better}), 1);
  EXPECT_EQ(index_in({same, same}), 0);
}

}  // namespace
}  // namespace reprise
