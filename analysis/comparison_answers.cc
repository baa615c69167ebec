#include <algorithm>

#include "analysis/comparison.h"

namespace reprise {
namespace {

/// So many loads of a side that has no value of a metric, or of both sides together, tell that more
/// loads have none either.
constexpr std::size_t kLoadsWithoutValue = 8;

/// A page can paint late now and then. `of_a`, `of_b`: its loads with a value; one of them is 0.
bool may_get_value(const ComparedPage& page, std::size_t of_a, std::size_t of_b) {
  std::size_t without = 0;
  if (of_a == 0) without += page.a.loads.size() + page.a.failed;
  if (of_b == 0) without += page.b.loads.size() + page.b.failed;
  return without < kLoadsWithoutValue;
}

bool can_be_decided(const ComparedPage& page) {
  if (page.few_count && !page.failures_differ) return true;
  if (page.metrics.empty()) return !page.failures_differ && may_get_value(page, 0, 0);
  return std::ranges::any_of(page.metrics, [&](const ComparedMetric& each) {
    const Finding& finding = each.finding;
    if (finding.verdict != Verdict::kUndecided) return false;
    bool const has_values = finding.of_a > 0 && finding.of_b > 0;
    return has_values || may_get_value(page, finding.of_a, finding.of_b);
  });
}

}  // namespace

bool fails_more(const ComparedPage& page) {
  auto const in_a = page.a.failed + page.a.loads.size();
  auto const in_b = page.b.failed + page.b.loads.size();
  return page.failures_differ && page.b.failed * in_a > page.a.failed * in_b;
}

bool is_worse(const Comparison& comparison) {
  return std::ranges::any_of(comparison.pages, [](const ComparedPage& page) {
    return fails_more(page) || std::ranges::any_of(page.metrics, [](const ComparedMetric& each) {
             return each.finding.verdict == Verdict::kDifferent && each.finding.shift.estimate > 0;
           });
  });
}

bool has_undecided(const Comparison& comparison) {
  return std::ranges::any_of(comparison.pages, [](const ComparedPage& page) {
    bool const is_known = page.failures_differ || (!page.metrics.empty() && !page.few_count);
    return !is_known || std::ranges::any_of(page.metrics, [](const ComparedMetric& each) {
      return each.finding.verdict == Verdict::kUndecided;
    });
  });
}

bool can_be_decided(const Comparison& comparison) {
  return std::ranges::any_of(comparison.pages,
                             [](const ComparedPage& page) { return can_be_decided(page); });
}

}  // namespace reprise
