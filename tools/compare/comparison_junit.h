#pragma once

#include <string>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/comparison.h"

namespace reprise {

/// The comparison as JUnit XML, which build servers show: a suite for each page, a case for each
/// metric, and one for its failed loads. Different is a failure, undecided is skipped, and
/// something that cannot be compared is an error. With `only_slower` a metric that is better in B
/// passes. `budgets` of B have a suite for each page and configuration, a case for each line: over
/// is a failure, not measured is skipped. Pure.
std::string comparison_junit(const Comparison& comparison, const CompareOptions& options,
                             bool only_slower, const std::vector<BudgetFinding>& budgets);

/// One suite with one case, which is an error: there is no comparison, for this reason. Pure.
std::string error_junit(const std::string& why);

}  // namespace reprise
