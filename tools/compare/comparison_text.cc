#include "tools/compare/comparison_text.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <vector>

#include "analysis/metric.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/markdown.h"
#include "base/text/printable.h"
#include "base/text/text_table.h"
#include "pageload/results/result_file.h"

namespace json = boost::json;

namespace reprise {
namespace {

using Row = TableRow;
const Row kTitles{"metric", "A", "B", "B - A", "interval", "p", "verdict"};

/// " (+1.2 %)"; empty without a base.
std::string percent_of(double shift, double base) {
  return base == 0 ? "" : formatted(" (%+.1f %%)", 100 * shift / base);
}

std::string p_text(double p) {
  return p < 0.001 ? "< 0.001" : formatted("%.3f", p);
}

std::string shift_text(const ComparedMetric& each) {
  auto const& finding = each.finding;
  return metric_text(kMetrics[each.metric].unit, finding.shift.estimate, true) +
         percent_of(finding.shift.estimate, finding.median_a);
}

std::string interval_text(const ComparedMetric& each) {
  auto const unit = kMetrics[each.metric].unit;
  const Shift& shift = each.finding.shift;
  if (std::isinf(shift.low)) return "too few loads";
  return metric_text(unit, shift.low, true) + " to " + metric_text(unit, shift.high, true);
}

Row row_of(const ComparedMetric& each) {
  const Metric& metric = kMetrics[each.metric];
  const Finding& finding = each.finding;
  Row row{std::string(metric.title),
          metric_text(metric.unit, finding.median_a),
          metric_text(metric.unit, finding.median_b),
          "",
          "",
          "",
          std::string(to_string(finding.verdict))};
  bool const in_a = finding.of_a > 0;
  if (!in_a || finding.of_b == 0) {
    row[in_a ? 2 : 1] = "none";
    return row;
  }
  if (!finding.is_compared()) {
    row[3] = row[4] = row[5] = "-";
    return row;
  }
  row[3] = shift_text(each);
  row[4] = interval_text(each);
  row[5] = p_text(finding.holm_p);
  return row;
}

/// "h1 against h2" if they differ.
std::string both(const std::string& a, const std::string& b) {
  return printable(a == b ? a : a + " against " + b);
}

/// "30 loads" and the skipped ones.
std::string loads_text(const LoadGroup& group) {
  auto text = counted(group.loads.size(), "load");
  if (group.failed > 0) {
    text += ", " + std::to_string(group.failed) + " failed";
    for (std::size_t i = 0; i < group.failures.size(); ++i) {
      text += (i == 0 ? " (" : "; ") + printable(group.failures[i]);
    }
    text += ")";
  }
  if (group.doubtful > 0) {
    text += ", " + std::to_string(group.doubtful) + " not counted (" +
            printable(group.warnings.front()) + ")";
  }
  return text;
}

/// The first ones, and how many more there are.
std::string joined(const std::vector<std::string>& reasons) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(reasons.size(), kShown); ++i) {
    text += (i > 0 ? "; " : "") + reasons[i];
  }
  if (reasons.size() > kShown) text += "; and " + std::to_string(reasons.size() - kShown) + " more";
  return text;
}

/// Whether a metric is undecided that loads of both sides have.
bool has_open_metric(const Comparison& comparison) {
  return std::ranges::any_of(comparison.pages, [](const ComparedPage& page) {
    return std::ranges::any_of(page.metrics, [](const ComparedMetric& each) {
      const Finding& finding = each.finding;
      return finding.verdict == Verdict::kUndecided && finding.of_a > 0 && finding.of_b > 0;
    });
  });
}

std::string undecided_text(const Comparison& comparison, const CompareOptions& options) {
  bool const no_page_has_metrics = std::ranges::all_of(
      comparison.pages, &std::vector<ComparedMetric>::empty, &ComparedPage::metrics);
  if (no_page_has_metrics && std::ranges::none_of(comparison.pages, &ComparedPage::few_count)) {
    return "undecided: no load has a value of what is compared. Name another --metric.";
  }
  auto const reasons = undecided_reasons(comparison);
  if (!reasons.empty() && !has_open_metric(comparison)) {
    return "undecided: " + joined(reasons) + ".";
  }
  auto text = too_few_text(comparison);
  if (text.empty()) {
    text = "undecided: no metric differs at the level of " + formatted("%g", 100 * options.alpha) +
           " %, and there are too few loads, or they vary too much, to call them the same.";
  }
  return reasons.empty() ? text : text + " Besides, " + joined(reasons) + ".";
}

/// The conclusion, a sentence; empty for a refusal.
std::string conclusion(const Comparison& comparison, const CompareOptions& options) {
  std::string differing;
  for (const ComparedPage& page : comparison.pages) {
    if (page.failures_differ) {
      differing += (differing.empty() ? "" : ", ") + failures_text(page);
    }
    for (const ComparedMetric& each : page.metrics) {
      if (each.finding.verdict != Verdict::kDifferent) continue;
      differing += (differing.empty() ? "" : ", ") + std::string(kMetrics[each.metric].title) +
                   " " + shift_text(each);
    }
  }
  switch (comparison.verdict) {
    case Verdict::kDifferent:
      return "different: " + differing + ".";
    case Verdict::kSame:
      return "same: every difference is below the minimum effect, with " +
             formatted("%g", 100 - 100 * options.alpha) + " % confidence.";
    case Verdict::kUndecided:
      break;
  }
  return undecided_text(comparison, options);
}

std::string refusals_text(const Comparison& comparison, const CompareOptions& options) {
  std::string text;
  for (const Refusal& each : comparison.refusals) {
    text += "A and B cannot be compared: " + printable(refusal_text(each, options)) + "\n";
  }
  return text;
}

std::vector<Row> rows_of(const ComparedPage& page) {
  std::vector<Row> rows{kTitles};
  for (const ComparedMetric& each : page.metrics) rows.push_back(row_of(each));
  return rows;
}

json::value finite(double value) {
  return std::isfinite(value) ? json::value(value) : json::value();
}

json::object side_json(const LoadGroup& group) {
  json::array failures, warnings;
  for (const std::string& each : group.failures) failures.emplace_back(as_utf8(each));
  for (const std::string& each : group.warnings) warnings.emplace_back(as_utf8(each));
  return {{"configuration", to_json(group.conditions)},
          {"loads", group.loads.size()},
          {"warm_ups", group.warm_ups},
          {"failed", group.failed},
          {"failures", std::move(failures)},
          {"doubtful", group.doubtful},
          {"repeated", group.repeated},
          {"doubts", std::move(warnings)}};
}

json::object metric_json(const ComparedMetric& each) {
  const Finding& finding = each.finding;
  auto const if_known = [](bool is_known, double value) {
    return is_known ? finite(value) : json::value();
  };
  bool const is_compared = finding.is_compared();
  return {{"metric", kMetrics[each.metric].name},
          {"field", kMetrics[each.metric].field},
          {"loads_a", finding.of_a},
          {"loads_b", finding.of_b},
          {"median_a", if_known(finding.of_a > 0, finding.median_a)},
          {"median_b", if_known(finding.of_b > 0, finding.median_b)},
          {"shift", if_known(is_compared, finding.shift.estimate)},
          {"low", if_known(is_compared, finding.shift.low)},
          {"high", if_known(is_compared, finding.shift.high)},
          {"least_effect", finding.minimum_effect},
          {"cliffs_delta", if_known(is_compared, finding.rank.cliffs_delta)},
          {"p", finding.rank.p},
          {"exact", finding.rank.exact},
          {"holm_p", finding.holm_p},
          {"verdict", to_string(finding.verdict)}};
}

}  // namespace

std::string refusal_text(const Refusal& refusal, const CompareOptions& options) {
  if (!refusal.may_be_allowed || options.allowed.contains(refusal.difference)) return refusal.text;
  return refusal.text + " (--allow " + std::string(to_string(refusal.difference)) +
         " permits the comparison)";
}

std::vector<std::string> undecided_reasons(const Comparison& comparison) {
  std::vector<std::string> reasons;
  for (const ComparedPage& page : comparison.pages) {
    if (page.few_count) {
      reasons.push_back("so many loads of " + page_title(page) +
                        " failed that the others cannot be called the same (" +
                        failures_text(page) + ")");
    } else if (page.metrics.empty()) {
      reasons.push_back("no load of " + page_title(page) + " has a value of what is compared");
    } else {
      for (const ComparedMetric& each : page.metrics) {
        if (each.finding.of_a > 0 && each.finding.of_b > 0) continue;
        reasons.push_back(page_title(page) + ": " + metric_summary(each));
      }
    }
  }
  return reasons;
}

std::string too_few_text(const Comparison& comparison) {
  std::size_t metrics = 0;
  for (const ComparedPage& page : comparison.pages) metrics += page.metrics.size();
  if (metrics == 0) return {};
  std::size_t loads = 0, least = 0;  // of the page that has most loads
  bool some_are_unpaired = false;
  for (const ComparedPage& page : comparison.pages) {
    auto const all = page.a.loads.size() + page.b.loads.size();
    if (page.unpaired > 0 && page.unpaired == all) continue;
    std::size_t of_block = 0;
    for (const ComparedMetric& each : page.metrics) {
      of_block = std::max(of_block, each.finding.of_block);
    }
    auto const of_page = (all - page.unpaired) / 2;
    auto const enough = least_loads(comparison.first_level, of_block);
    if (of_page >= enough) return {};
    if (least > 0 && of_page <= loads) continue;
    loads = of_page;
    least = enough;
    some_are_unpaired = page.unpaired > 0;
  }
  if (least == 0) {
    return "undecided: nothing is compared: no node or link seed has loads of both A and B.";
  }
  return "undecided: " + counted(loads, some_are_unpaired ? "comparable load" : "load") +
         " a side cannot show a difference in any of " + counted(metrics, "metric") +
         ": make at least " + std::to_string(least) + ", or name fewer metrics with --metric.";
}

std::string failed_text(const LoadGroup& group) {
  return std::to_string(group.failed) + " of " + counted(group.failed + group.loads.size(), "load");
}

std::string failures_text(const ComparedPage& page) {
  if (page.a.failed == 0) return "only B has loads that failed";
  if (page.b.failed == 0) return "only A has loads that failed";
  return failed_text(page.a) + " failed in A, " + failed_text(page.b) + " in B";
}

std::string page_title(const ComparedPage& page) {
  const LoadConfiguration& a = page.a.conditions;
  const LoadConfiguration& b = page.b.conditions;
  return printable(page.a.url) + " (" + both(a.browser, b.browser) + ", " +
         both(a.protocol, b.protocol) + ", link " + both(a.link, b.link) + ", " +
         both(a.cache, b.cache) + ")";
}

std::string metric_summary(const ComparedMetric& each) {
  auto const title = std::string(kMetrics[each.metric].title);
  if (each.finding.of_a == 0 || each.finding.of_b == 0) {
    return title + ": no load of " + (each.finding.of_a == 0 ? "A" : "B") + " has it";
  }
  if (!each.finding.is_compared()) {
    return title + ": not compared: no node or link seed has loads of both A and B";
  }
  return title + " " + shift_text(each) + ", " + interval_text(each) + ": " +
         std::string(to_string(each.finding.verdict));
}

std::string comparison_text(const Comparison& comparison, const CompareOptions& options) {
  if (!comparison.refusals.empty()) return refusals_text(comparison, options);
  std::string text;
  for (const ComparedPage& page : comparison.pages) {
    text += page_title(page) + "\n";
    text += "A: " + loads_text(page.a) + "; B: " + loads_text(page.b) + "\n";
    text += text_table(rows_of(page)) + "\n";
  }
  for (const std::string& each : comparison.remarks) text += "note: " + printable(each) + "\n";
  return text + conclusion(comparison, options) + "\n";
}

std::string comparison_markdown(const Comparison& comparison, const CompareOptions& options) {
  if (!comparison.refusals.empty()) return markdown_escaped(refusals_text(comparison, options));
  std::string text = "**" + markdown_escaped(conclusion(comparison, options)) + "**\n";
  for (const ComparedPage& page : comparison.pages) {
    text += "\n" + markdown_escaped(page_title(page)) + "  \n";
    text += "A: " + markdown_escaped(loads_text(page.a)) +
            "; B: " + markdown_escaped(loads_text(page.b)) + "\n\n";
    bool is_title = true;
    for (const Row& row : rows_of(page)) {
      for (const std::string& cell : row) text += "| " + markdown_escaped(cell) + " ";
      text += "|\n";
      if (is_title) text += "|---|--:|--:|--:|--:|--:|---|\n";
      is_title = false;
    }
  }
  for (const std::string& each : comparison.remarks) {
    text += "\nnote: " + markdown_escaped(printable(each)) + "\n";
  }
  return text;
}

json::object comparison_json(const Comparison& comparison, const CompareOptions& options) {
  json::array refusals, remarks, pages;
  for (const Refusal& each : comparison.refusals) {
    refusals.push_back({{"difference", to_string(each.difference)}, {"text", as_utf8(each.text)}});
  }
  for (const std::string& each : comparison.remarks) remarks.emplace_back(as_utf8(each));
  for (const ComparedPage& page : comparison.pages) {
    json::array metrics;
    for (const ComparedMetric& each : page.metrics) metrics.push_back(metric_json(each));
    pages.push_back({{"url", as_utf8(page.a.url)},
                     {"a", side_json(page.a)},
                     {"b", side_json(page.b)},
                     {"failures_differ", page.failures_differ},
                     {"few_count", page.few_count},
                     {"unpaired", page.unpaired},
                     {"metrics", std::move(metrics)}});
  }
  bool const refused = !comparison.refusals.empty();
  return {{"schema", "reprise-compare/1"},
          {"verdict", refused ? "refused" : to_string(comparison.verdict)},
          {"alpha", options.alpha},
          {"refusals", std::move(refusals)},
          {"remarks", std::move(remarks)},
          {"pages", std::move(pages)}};
}

}  // namespace reprise
