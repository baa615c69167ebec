#include "tools/compare/comparison_junit.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/printable.h"
#include "base/text/xml.h"
#include "tools/compare/comparison_text.h"

namespace reprise {
namespace {

std::string xml(std::string_view text) {
  return xml_escaped(printable(text));
}

constexpr auto kHead =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"reprise\">\n";
constexpr auto kTail = "</testsuites>\n";

struct TestCase {
  std::string name;
  std::string_view kind;  ///< "failure", "skipped", "error"; empty: passed
  std::string message;
};

/// `noun` in the singular and the number of these cases: ` failures="2"`.
std::string counted_as(std::string_view noun, std::string_view kind,
                       const std::vector<TestCase>& cases) {
  std::size_t count = 0;
  for (const TestCase& each : cases) count += each.kind == kind ? 1 : 0;
  return " " + std::string(noun) + "=\"" + std::to_string(count) + "\"";
}

std::string suite(const std::string& name, const std::vector<TestCase>& cases) {
  std::string text =
      "  <testsuite name=\"" + xml(name) + "\" tests=\"" + std::to_string(cases.size()) + "\"" +
      counted_as("failures", "failure", cases) + counted_as("errors", "error", cases) +
      counted_as("skipped", "skipped", cases) + ">\n";
  for (const TestCase& each : cases) {
    text += "    <testcase classname=\"" + xml(name) + "\" name=\"" + xml(each.name) + "\"";
    if (each.kind.empty()) {
      text += "/>\n";
      continue;
    }
    text += ">\n      <" + std::string(each.kind) + " message=\"" + xml(each.message) +
            "\"/>\n    </testcase>\n";
  }
  return text + "  </testsuite>\n";
}

std::vector<TestCase> cases_of(const ComparedPage& page, bool only_slower) {
  std::vector<TestCase> cases;
  for (const ComparedMetric& each : page.metrics) {
    TestCase made{.name = std::string(kMetrics[each.metric].title),
                  .message = metric_summary(each)};
    bool const passes = only_slower && each.finding.shift.estimate < 0;
    if (each.finding.verdict == Verdict::kDifferent && !passes) made.kind = "failure";
    if (each.finding.verdict == Verdict::kUndecided) made.kind = "skipped";
    cases.push_back(std::move(made));
  }
  if (page.metrics.empty()) {
    cases.push_back({.name = "metrics",
                     .kind = "skipped",
                     .message = "no load has a value of what is compared"});
  }
  TestCase loads{.name = "failed loads"};
  if (only_slower ? fails_more(page) : page.failures_differ) {
    loads.kind = "failure";
    loads.message = failures_text(page);
  } else if (page.few_count) {
    loads.kind = "skipped";
    loads.message = "too many failed to call the others the same: " + failures_text(page);
  }
  cases.push_back(std::move(loads));
  return cases;
}

/// A suite for each page and configuration, whose findings follow one another.
std::string budget_suites(const std::vector<BudgetFinding>& budgets) {
  std::string text, title;
  std::vector<TestCase> cases;
  for (const BudgetFinding& each : budgets) {
    auto const its_title = "budget of " + each.url + " (" + budget_conditions(each) + ")";
    if (its_title != title && !cases.empty()) text += suite(title, std::exchange(cases, {}));
    title = its_title;
    bool const counts = each.line.kind == BudgetLine::Kind::kCount;
    TestCase made{.name = "budget " + each.line.name + (counts ? " requests" : ""),
                  .message = budget_text(each)};
    if (each.is_over()) made.kind = "failure";
    if (!each.median) made.kind = "skipped";
    cases.push_back(std::move(made));
  }
  return cases.empty() ? text : text + suite(title, cases);
}

}  // namespace

std::string error_junit(const std::string& why) {
  return std::string(kHead) +
         suite("A and B", {{.name = "verdict", .kind = "error", .message = why}}) + kTail;
}

std::string comparison_junit(const Comparison& comparison, const CompareOptions& options,
                             bool only_slower, const std::vector<BudgetFinding>& budgets) {
  std::string text = kHead;
  if (!comparison.refusals.empty()) {
    std::vector<TestCase> cases;
    for (const Refusal& each : comparison.refusals) {
      cases.push_back({.name = std::string(to_string(each.difference)),
                       .kind = "error",
                       .message = "A and B cannot be compared: " + refusal_text(each, options)});
    }
    text += suite("A and B", cases);
  }
  if (comparison.refusals.empty() && comparison.pages.empty()) {
    text += suite("A and B", {{.name = "verdict",
                               .kind = "skipped",
                               .message = "it ended before anything was compared"}});
  }
  for (const ComparedPage& page : comparison.pages) {
    text += suite(page_title(page), cases_of(page, only_slower));
  }
  return text + budget_suites(budgets) + kTail;
}

}  // namespace reprise
