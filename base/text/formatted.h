#pragma once

// Numbers as text, for messages and tables.

#include <chrono>
#include <string>

namespace reprise {

inline constexpr double kUsPerMs = 1'000;

/// What printf would print, of any length.
__attribute__((format(printf, 1, 2))) std::string formatted(const char* format, ...);

/// "245 ms"; with one decimal "244.9 ms".
std::string ms_text(double ms, int decimals = 0);

/// "40 s", "12 min", "2 h 40 min".
std::string duration_text(std::chrono::seconds time);

}  // namespace reprise
