#pragma once

// A trace as JSON (TRENCH.md). Pure.

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include "analysis/trench/trench_trace.h"

namespace reprise {

inline constexpr std::size_t kTrenchJsonBytesMax = std::size_t{16} << 20;

/// Reads untrusted JSON; names are cut to TrenchTrace::kNameBytesMax. Errors: a sentence ("stack[3]
/// is called by stack[1] and by stack[2]").
std::expected<TrenchTrace, std::string> read_trench_json(std::string_view text);

/// `trace` keeps the promises of its struct. The node at place i is written as stack[i]. A class is
/// written once.
std::string trench_json(const TrenchTrace& trace);

}  // namespace reprise
