#pragma once

// What `reprise compare` and `reprise gate` have in common: flags, and how they tell what came out.

#include <expected>
#include <string>
#include <vector>

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
};

void add_compare_flags(CLI::App& command, CompareFlags& flags);

/// Errors: a sentence for people.
std::expected<CompareOptions, std::string> compare_options(const CompareFlags& flags);

/// Writes it to standard output as the flags ask for; a refusal for people to standard error.
void tell_comparison(const Comparison& comparison, const CompareOptions& options,
                     const CompareFlags& flags);

/// 0 same, 5 different, 6 undecided, 1 refused.
int exit_code_of(const Comparison& comparison);

}  // namespace reprise
