#pragma once

// Lighthouse's budget.json (README.md). Pure.

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pageload/results/load_result.h"

namespace reprise {

struct BudgetLine {
  enum class Kind { kBytes, kCount, kTiming };
  Kind kind = Kind::kBytes;
  std::string name;  ///< a type of resources, or a timing, as in the file
  double limit = 0;  ///< bytes, requests, or milliseconds (a score for a layout shift)
};

struct PageBudget {
  std::string path;  ///< as in robots.txt
  std::vector<std::string> first_party_hosts;
  std::vector<BudgetLine> lines;
};

inline constexpr std::size_t kBudgetBytesMax = 1 << 20;

/// Reads an untrusted file's text. Errors: a sentence.
std::expected<std::vector<PageBudget>, std::string> read_budgets(std::string_view text);

struct BudgetFinding {
  std::string url;
  LoadConfiguration configuration;
  BudgetLine line;
  std::size_t loads = 0;         ///< that count
  std::optional<double> median;  ///< nothing: not measured
  bool is_over() const { return median && *median > line.limit; }
};

/// Whether one of `budgets` is for the page.
bool has_budget(const std::vector<PageBudget>& budgets, std::string_view url);

/// Of each page and configuration of `result` with a budget, each of its lines.
std::vector<BudgetFinding> check_budgets(const std::vector<PageBudget>& budgets,
                                         const LoadResult& result);

/// "chromium, h2, link wpt:4g, cold".
std::string budget_conditions(const BudgetFinding& finding);

/// "script 210.4 kB of 150.0 kB: over".
std::string budget_text(const BudgetFinding& finding);

}  // namespace reprise
