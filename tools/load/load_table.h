#pragma once

// The text about loads: one line per load, and a table at the end. Pure.

#include <string>

#include "pageload/results/load_result.h"
#include "tools/load/load_matrix.h"

namespace reprise {

/// "loaded https://a.test/: 5 requests, 1.2 MB, load event 244.9 ms, 1 miss", or how it failed.
/// Without misses their number is omitted.
std::string load_text(const PageLoad& page);

/// The parts of `cell` in which `cells` differ: "h1, wpt:4g, cold"; empty if there are none.
std::string cell_text(const LoadCell& cell, const std::vector<LoadCell>& cells);

/// One row per cell: how many loads counted and how many failed, the median of load event and Last
/// Load Time, the load event's coefficient of variation, misses. Loads that were disturbed
/// (LoadResult::Load) do not count, and have a column if there are any.
std::string load_table(const LoadResult& result, const std::vector<LoadCell>& cells);

/// One line for each cell of which a few loads took much longer, and the link's queue dropped
/// packets in each of them: a cause that more loads do not remove. Empty if there are none.
std::string dropped_text(const LoadResult& result, const std::vector<LoadCell>& cells);

/// Why replays of `result` ended with kExitGate (--strict): "misses in 2 of 3 loads, such as GET
/// https://a.test/new.js (path never recorded)". Empty if their reports name no reason.
std::string strict_text(const LoadResult& result);

}  // namespace reprise
