#pragma once

// The lines of Banky-Trace fields, the grammar of analysis/trench/TRENCH.md. Pure.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise {

/// What a line with a URL begins with, and the names of the counts; in fields they are in any case.
inline constexpr std::string_view kTraceUrl = "url=";
inline constexpr std::array<std::string_view, 4> kTraceCounts = {"base64lines", "base64bytes",
                                                                 "jsoncrc32", "jsonbytes"};

/// A text of digits alone, as a number of 64 bits.
std::optional<std::uint64_t> trace_number(std::string_view text);

/// Takes the first line off `rest`, the value of a field: up to a comma that another line follows,
/// without blanks around it.
std::string_view take_trace_line(std::string_view& rest);

}  // namespace reprise
