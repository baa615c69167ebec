#pragma once

// The verdict about the two results of a page. Pure.

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

#include "analysis/comparison.h"
#include "analysis/measurements.h"
#include "pageload/results/load_result.h"

namespace reprise {

/// The verdict about two results, as MODEL.md describes `comparison`.
boost::json::object verdict_json(const Comparison& comparison);

/// Compares two results that someone chose to see side by side. What is chosen before a load can
/// differ: archive, what-ifs, browser, protocol, link and cache. A remark tells each such
/// difference.
Comparison compare_as_chosen(const Measurements& a, const Measurements& b);

/// The verdict of the gate that made `a` and `b`, from the text of its verdict.json, as
/// verdict_json() has it. Nothing: the file is of another gate, or damaged. The text is untrusted.
std::optional<boost::json::object> gate_verdict_json(std::string_view text, const LoadResult& a,
                                                     const LoadResult& b);

}  // namespace reprise
