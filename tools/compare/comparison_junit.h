#pragma once

#include <string>

#include "analysis/comparison.h"

namespace reprise {

/// The comparison as JUnit XML, which build servers show: a suite for each page, a case for each
/// metric, and one for its failed loads. Different is a failure, undecided is skipped, and
/// something that cannot be compared is an error. With `only_slower` a metric that is better in B
/// passes. Pure.
std::string comparison_junit(const Comparison& comparison, const CompareOptions& options,
                             bool only_slower);

}  // namespace reprise
