#pragma once

// Letters and digits of ASCII: no locale, and other bytes are neither. Pure.

#include <algorithm>
#include <string_view>

namespace reprise {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

/// Compares letters without their case, and all other bytes exactly. Any text contains "".
constexpr bool contains_ignoring_case(std::string_view text, std::string_view what) {
  auto const same = [](char a, char b) { return to_lower(a) == to_lower(b); };
  return what.empty() ||
         std::search(text.begin(), text.end(), what.begin(), what.end(), same) != text.end();
}

}  // namespace reprise
