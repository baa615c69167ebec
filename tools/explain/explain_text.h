#pragma once

// An explanation for terminals and spreadsheets. Pure.

#include <string>

#include "analysis/contribution/explanation.h"

namespace reprise {

/// Tables by kind, of each slice; for the first slice the calls that weigh most, and how to get the
/// time back.
std::string explanation_text(const Explanation& explanation, const KindRules& rules,
                             const ExplainOptions& options, const ExplanationFacts& facts);

/// RFC 4180: one row per kind of each slice (`call` is empty), then one per call.
std::string explanation_csv(const Explanation& explanation, const KindRules& rules,
                            const ExplainOptions& options);

}  // namespace reprise
