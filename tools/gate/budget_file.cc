#include "tools/gate/budget_file.h"

#include <algorithm>
#include <boost/json/object.hpp>

#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "base/text/printable.h"

namespace json = boost::json;

namespace reprise {
namespace {

std::string_view kind_name(BudgetLine::Kind kind) {
  switch (kind) {
    case BudgetLine::Kind::kBytes:
      return "bytes";
    case BudgetLine::Kind::kCount:
      return "requests";
    case BudgetLine::Kind::kTiming:
      break;
  }
  return "timing";
}

std::size_t over_in(const std::vector<BudgetFinding>& findings) {
  return static_cast<std::size_t>(std::ranges::count_if(findings, &BudgetFinding::is_over));
}

std::string budgets_verdict(const std::vector<BudgetFinding>& findings) {
  if (auto const over = over_in(findings); over > 0) {
    return "B is over " + counted(over, "budget") + ".";
  }
  auto const unknown = static_cast<std::size_t>(std::ranges::count_if(
      findings, [](const BudgetFinding& each) { return !each.median.has_value(); }));
  if (unknown == 0) return "B keeps its budget.";
  auto const text = std::to_string(unknown) + " of " + counted(findings.size(), "budget") +
                    (unknown == 1 ? " was" : " were") + " not measured.";
  return unknown == findings.size() ? text : "B keeps what was measured of its budget; " + text;
}

}  // namespace

std::expected<std::vector<PageBudget>, std::string> read_budget_file(
    const std::filesystem::path& path) {
  auto const text = read_text_file(path, kBudgetBytesMax);
  if (!text) return std::unexpected(path.string() + ": " + text.error().message());
  auto budgets = read_budgets(*text);
  if (!budgets) return std::unexpected(path.string() + " is not a budget.json: " + budgets.error());
  return budgets;
}

std::string budgets_text(const std::vector<BudgetFinding>& findings, bool markdown) {
  if (findings.empty()) return "";
  std::string text;
  std::string page;
  for (const BudgetFinding& finding : findings) {
    auto const title = finding.url + " (" + budget_conditions(finding) + ")";
    if (title != page) text += "\nbudget of " + printable(title) + "\n" + (markdown ? "\n" : "");
    page = title;
    text += (markdown ? "- " : "  ") + printable(budget_text(finding)) + "\n";
  }
  return text + "\n" + budgets_verdict(findings) + "\n";
}

json::array budgets_json(const std::vector<BudgetFinding>& findings) {
  json::array all;
  for (const BudgetFinding& finding : findings) {
    all.push_back({{"url", as_utf8(finding.url)},
                   {"configuration", as_utf8(budget_conditions(finding))},
                   {"kind", kind_name(finding.line.kind)},
                   {"name", as_utf8(finding.line.name)},
                   {"loads", finding.loads},
                   {"median", finding.median ? json::value(*finding.median) : json::value()},
                   {"budget", finding.line.limit},
                   {"over", finding.is_over()}});
  }
  return all;
}

bool any_over(const std::vector<BudgetFinding>& findings) {
  return over_in(findings) > 0;
}

}  // namespace reprise
