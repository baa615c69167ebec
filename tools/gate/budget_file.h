#pragma once

// `gate --budget-file`: what is read and printed.

#include <boost/json/array.hpp>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/budget/budget.h"

namespace reprise {

/// Errors: a sentence that begins with the path.
std::expected<std::vector<PageBudget>, std::string> read_budget_file(
    const std::filesystem::path& path);

/// A line for each finding under its page, then a sentence; for Markdown a list. Empty without
/// findings.
std::string budgets_text(const std::vector<BudgetFinding>& findings, bool markdown);
/// One object per finding: `url`, `configuration`, `kind`, `name`, `loads`, `median` (null: not
/// measured), `budget`, `over`.
boost::json::array budgets_json(const std::vector<BudgetFinding>& findings);

bool any_over(const std::vector<BudgetFinding>& findings);

}  // namespace reprise
