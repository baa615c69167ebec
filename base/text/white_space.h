#pragma once

#include <string_view>

namespace reprise {

/// ASCII white space of the WHATWG's Infra Standard (section 4.6): without the vertical tab.
constexpr bool is_white_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/// `text` without white space at either end.
constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_white_space(text.back())) text.remove_suffix(1);
  return text;
}

/// White space allowed around the value of a header field (OWS of RFC 9110 section 5.6.3).
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// `text` without blanks at either end.
constexpr std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace reprise
