#pragma once

// An explanation for terminals and spreadsheets. Pure.

#include <span>
#include <string>
#include <vector>

#include "analysis/contribution/explanation.h"
#include "analysis/partials/slices.h"

namespace reprise {

/// Tables by kind, of each slice; for the first slice the calls that weigh most, and how to get the
/// time back.
std::string explanation_text(const Explanation& explanation, const KindRules& rules,
                             const ExplainOptions& options, const ExplanationFacts& facts);

/// Its last paragraph: what is not in the figures; empty if all is.
std::string losses_text(const Explanation& explanation, const ExplanationFacts& facts);

/// RFC 4180: one row per kind of each slice (`call` is empty), then one per call.
std::string explanation_csv(const Explanation& explanation, const KindRules& rules,
                            const ExplainOptions& options);

/// The same of partial results, which have sums by kind alone. `slices` have as many sums as the
/// rules have kinds, and two.
std::string partials_text(std::span<const PartialSlice> slices, const KindRules& rules,
                          double slowest_percent);
/// `by` are the names of the slices' values.
std::string partials_csv(std::span<const PartialSlice> slices, const KindRules& rules,
                         const std::vector<std::string>& by);

}  // namespace reprise
