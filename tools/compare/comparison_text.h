#pragma once

// A comparison of page loads for users and for programs. Its URLs and failures are untrusted text.

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "analysis/comparison.h"

namespace reprise {

/// One table per page, then a sentence with the conclusion.
std::string comparison_text(const Comparison& comparison, const CompareOptions& options);

/// The same as Markdown, for a comment on a change.
std::string comparison_markdown(const Comparison& comparison, const CompareOptions& options);

/// A page and its conditions: "https://a.test/ (chromium, h2, link wpt:4g, cold)".
std::string page_title(const ComparedPage& page);

/// Why A and B cannot be compared, and the option that permits it. Untrusted text.
std::string refusal_text(const Refusal& refusal, const CompareOptions& options);

/// Why an undecided comparison stays so however little the loads vary: loads without a value of
/// what is compared, or so many that failed. Sentences without full stops, with the page.
std::vector<std::string> undecided_reasons(const Comparison& comparison);

/// Why no loads, however different, could have been called different: there are too few that can be
/// compared. Empty if there are enough.
std::string too_few_text(const Comparison& comparison);

/// How many loads failed: "2 of 30 loads".
std::string failed_text(const LoadGroup& group);

/// "only B has loads that failed", "2 of 30 loads failed in A, 24 of 30 loads in B".
std::string failures_text(const ComparedPage& page);

/// One metric: "load event +31.0 ms (+1.2 %), +28.0 ms to +35.1 ms: different".
std::string metric_summary(const ComparedMetric& each);

/// Schema `reprise-compare/1`; docs/compare.md describes it.
boost::json::object comparison_json(const Comparison& comparison, const CompareOptions& options);

}  // namespace reprise
