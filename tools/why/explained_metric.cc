#include "tools/why/explained_metric.h"

#include <algorithm>

#include "pageload/results/metric.h"
#include "tools/compare/comparison_text.h"

namespace reprise {
namespace {

/// "None of the compared metrics (load event, LCP) is different".
std::string none_text(const std::vector<ComparedMetric>& metrics, const char* what) {
  std::string titles;
  for (const ComparedMetric& each : metrics) {
    titles += (titles.empty() ? " (" : ", ") + std::string(kMetrics[each.metric].title);
  }
  if (!titles.empty()) titles += ")";
  return "None of the compared metrics" + titles + " is " + what;
}

}  // namespace

std::vector<ComparedMetric>::const_iterator metric_to_explain(
    const std::vector<ComparedMetric>& metrics) {
  auto const is_different = [](const ComparedMetric& each) {
    return each.finding.verdict == Verdict::kDifferent;
  };
  auto const is_worse = [&](const ComparedMetric& each) {
    return is_different(each) && each.finding.shift.estimate > 0;
  };
  auto const worse = std::ranges::find_if(metrics, is_worse);
  if (worse != metrics.end()) return worse;
  return std::ranges::find_if(metrics, is_different);
}

std::string only_failures_text(const ComparedPage& page) {
  if (!page.failures_differ) return {};
  auto const explained = metric_to_explain(page.metrics);
  bool const none_differs = explained == page.metrics.end();
  bool const b_fails_more = fails_more(page);
  if (!none_differs && !(b_fails_more && explained->finding.shift.estimate <= 0)) return {};
  const LoadGroup& failing = b_fails_more ? page.b : page.a;
  const LoadGroup& other = b_fails_more ? page.a : page.b;
  auto text = std::string("more loads of ") + (b_fails_more ? "B" : "A") +
              " fail: " + failed_text(failing) + ", and " + failed_text(other) + " of " +
              (b_fails_more ? "A" : "B");
  if (!failing.failures.empty()) text += " (" + failing.failures.front() + ")";
  return text + ". " + none_text(page.metrics, none_differs ? "different" : "worse") +
         ", so there is no difference in time to explain" +
         (page.metrics.size() == 1 ? "; --metric compares another" : "");
}

}  // namespace reprise
