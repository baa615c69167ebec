#include "tools/why/explained_metric.h"

#include <gmock/gmock.h>

#include "analysis/metric.h"

namespace reprise {
namespace {

ComparedMetric metric_with(Verdict verdict, double shift, const char* name = "load") {
  ComparedMetric made;
  made.metric = parse_metrics(name).value().front();
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
  EXPECT_EQ(index_in({same, same}), 2) << "none";
}

TEST(ExplainedMetric, IsNoneWhereOnlyFailuresDiffer) {
  ComparedPage page;
  page.a.loads.resize(10);
  page.b.loads.resize(4);
  page.b.failed = 6;
  page.b.failures = {"timed-out: "};
  page.metrics = {metric_with(Verdict::kUndecided, 40)};
  EXPECT_EQ(only_failures_text(page), "") << "chance can give that";
  page.failures_differ = true;
  EXPECT_EQ(only_failures_text(page),
            "more loads of B fail: 6 of 10 loads, and 0 of 10 loads of A (timed-out: ). None of "
            "the compared metrics (load event) is different, so there is no difference in time to "
            "explain; "
            "--metric compares another");
  page.metrics.push_back(metric_with(Verdict::kDifferent, -40, "requests"));
  EXPECT_THAT(only_failures_text(page),
              testing::EndsWith("None of the compared metrics (load event, requests) is worse, so "
                                "there is no difference in time to explain"));
  page.metrics.push_back(metric_with(Verdict::kDifferent, 40));
  EXPECT_EQ(only_failures_text(page), "");
  page.metrics.clear();
  std::swap(page.a, page.b);
  EXPECT_THAT(only_failures_text(page),
              testing::HasSubstr("more loads of A fail: 6 of 10 loads, and 0 of 10 loads of B"));
}

}  // namespace
}  // namespace reprise
