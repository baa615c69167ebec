#include "base/text/printable.h"

#include <algorithm>
#include <array>

namespace reprise {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< 0: the text does not begin with UTF-8
};

/// The first code point of `text`, which is not empty (RFC 3629: shortest form, no surrogates).
CodePoint first_code_point(std::string_view text) {
  auto const lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {.value = lead, .bytes = 1};
  std::size_t const bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t value = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    auto const next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    value = (value << 6) | (next & 0x3f);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[bytes] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {.value = value, .bytes = bytes};
}

bool is_safe_on_a_terminal(char32_t c) {
  auto const is_control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
  auto const turns_direction = c == 0x61c || c == 0x200e || c == 0x200f ||
                               (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !is_control && !turns_direction;
}

/// Copies `text` code point by code point; `other` converts those that `keep` rejects.
template <class Keep, class Other>
std::string translate(std::string_view text, Keep keep, Other other) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    auto const point = first_code_point(text);
    auto const piece = text.substr(0, std::max<std::size_t>(point.bytes, 1));
    if (point.bytes > 0 && keep(point.value)) {
      out += piece;
    } else {
      other(out, piece);
    }
    text.remove_prefix(piece.size());
  }
  return out;
}

void append_hex(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

}  // namespace

std::string printable(std::string_view text) {
  return translate(text, is_safe_on_a_terminal, [](std::string& out, std::string_view bytes) {
    for (char const byte : bytes) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(byte));
    }
  });
}

std::string as_utf8(std::string_view text) {
  return translate(
      text, [](char32_t) { return true; },
      [](std::string& out, std::string_view) { out += "\xef\xbf\xbd"; });
}

std::string align_left(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string align_right(std::string text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

}  // namespace reprise
