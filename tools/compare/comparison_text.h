#pragma once

// A comparison of page loads for people and for programs. URLs and failures in it were written by
// strangers.

#include <boost/json/object.hpp>
#include <string>

#include "analysis/comparison.h"

namespace reprise {

/// A table a page, then a sentence on what it comes to.
std::string comparison_text(const Comparison& comparison, const CompareOptions& options);

/// The same for a comment to a change.
std::string comparison_markdown(const Comparison& comparison, const CompareOptions& options);

/// One metric: "load event +31.0 ms (+1.2 %), +28.0 ms to +35.1 ms: different".
std::string metric_summary(const ComparedMetric& each);

/// Schema `reprise-compare/1`; docs/compare.md describes it.
boost::json::object comparison_json(const Comparison& comparison, const CompareOptions& options);

}  // namespace reprise
