#pragma once

// Shared by `reprise compare` and `reprise gate`: options, and the output of results.

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/comparison.h"

namespace CLI {
class App;
}

namespace reprise {

struct CompareFlags {
  std::vector<std::string> metrics, minimum_effects, allowed;
  double alpha = 0.05;
  bool json = false;
  bool markdown = false;
  std::filesystem::path junit;  ///< empty: none
  std::string fail_on = "different";
};

/// How many metrics the command takes.
enum class ComparedMetrics { kAll, kOne };

void add_compare_flags(CLI::App& command, CompareFlags& flags,
                       ComparedMetrics metrics = ComparedMetrics::kAll);

/// Errors: a sentence for users.
std::expected<CompareOptions, std::string> compare_options(const CompareFlags& flags);

/// Writes it to standard output in the requested form; as text, a refusal goes to standard error.
void tell_comparison(const Comparison& comparison, const CompareOptions& options,
                     const CompareFlags& flags);

/// Adds --junit and --fail-on.
void add_verdict_flags(CLI::App& command, CompareFlags& flags);
/// Writes the comparison, and what became of B's budgets, as JUnit XML, if asked for. False if that
/// failed, which has been printed.
bool write_junit(const Comparison& comparison, const CompareOptions& options,
                 const CompareFlags& flags, const std::vector<BudgetFinding>& budgets = {});

/// The same for a comparison that did not take place: one case, an error.
void write_junit_error(const std::string& why, const CompareFlags& flags);

/// 0 same, 5 different, 6 undecided, 1 refused.
int exit_code_of(const Comparison& comparison);
/// The same; but with `--fail-on slower` a B that is better in all that differs is as one that is
/// the same.
int exit_code_of(const Comparison& comparison, const CompareFlags& flags);

}  // namespace reprise
