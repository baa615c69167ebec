#pragma once

// Writing DNS messages down in tests: bytes as hexadecimal text, and back.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/ascii.h"
#include "dns/wire.h"

namespace reprise::dns {

using Octets = std::vector<std::uint8_t>;

/// Reads hexadecimal digits; anything else between them is left out. A `#` hides its line's rest.
inline Octets from_hex(std::string_view text) {
  Octets bytes;
  int high = -1;
  bool comment = false;
  for (char const letter : text) {
    comment = letter != '\n' && (comment || letter == '#');
    auto const digit = std::string_view("0123456789abcdef").find(to_lower(letter));
    if (comment || digit == std::string_view::npos) continue;
    if (high < 0) {
      high = static_cast<int>(digit);
    } else {
      bytes.push_back(static_cast<std::uint8_t>(high << 4 | static_cast<int>(digit)));
      high = -1;
    }
  }
  return bytes;
}

inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (auto const value : bytes) {
    text += "0123456789abcdef"[value >> 4];
    text += "0123456789abcdef"[value & 0xf];
  }
  return text;
}

/// encode() into as much room as it wants; empty when it fails.
inline Octets encoded(const Message& message, std::size_t limit = kMessageMax) {
  Octets bytes(limit);
  bytes.resize(encode(message, bytes).value_or(0));
  return bytes;
}

inline Name name_of(std::string_view text) {
  return Name::parse(text).value();
}

}  // namespace reprise::dns
