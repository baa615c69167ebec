#include "tools/why/explained_metric.h"

#include <algorithm>

namespace reprise {

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
  auto const different = std::ranges::find_if(metrics, is_different);
  return different != metrics.end() ? different : metrics.begin();
}

}  // namespace reprise
