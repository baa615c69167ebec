#pragma once

// Call trees as lines of JSON (CALLS.md). Pure.

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include "analysis/calls/call.h"

namespace reprise {

inline constexpr std::size_t kCallLineBytesMax = std::size_t{64} << 20;

/// Reads one untrusted line. The tree is normalized. Unknown fields are ignored. Errors: a sentence
/// ("calls[3].name must be a text").
std::expected<CallTree, std::string> read_call_line(std::string_view line);

/// With the newline at its end.
std::string call_line(const CallTree& tree);

}  // namespace reprise
