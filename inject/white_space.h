#pragma once

#include <string_view>

namespace reprise::inject {

/// ASCII whitespace as the WHATWG's Infra Standard has it (section 4.6): without the vertical tab.
constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/// `text` without whitespace at either end.
constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace reprise::inject
