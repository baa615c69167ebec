#include "archive/import/base64.h"

#include <algorithm>
#include <array>

namespace reprise::importing {
namespace {

constexpr std::uint8_t kNone = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kAlphabet[i])] = i;
  values['-'] = 62;
  values['_'] = 63;
  return values;
}
constexpr auto kValues = make_values();

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

bool Base64Decoder::append(std::string_view text, std::string& out) {
  std::size_t i = 0;
  out.reserve(out.size() + text.size() / 4 * 3 + 3);
  while (i < text.size()) {
    // Four characters, three bytes, as long as nothing is odd about them.
    while (bits_ == 0 && !padded_ && i + 4 <= text.size()) {
      auto const value = [&text, i](std::size_t k) {
        return static_cast<std::uint32_t>(kValues[static_cast<unsigned char>(text[i + k])]);
      };
      auto const a = value(0), b = value(1), c = value(2), d = value(3);
      if ((a | b | c | d) > 63) break;
      auto const whole = a << 18 | b << 12 | c << 6 | d;
      char const bytes[3] = {static_cast<char>(whole >> 16), static_cast<char>(whole >> 8),
                             static_cast<char>(whole)};
      out.append(bytes, 3);
      i += 4;
    }
    if (i == text.size()) break;
    auto const c = text[i++];
    if (is_space(c)) continue;
    if (c == '=') {
      padded_ = true;
      continue;
    }
    auto const value = kValues[static_cast<unsigned char>(c)];
    if (value == kNone || padded_) return false;
    held_ = held_ << 6 | value;
    bits_ += 6;
    if (bits_ >= 8) {
      bits_ -= 8;
      out += static_cast<char>(held_ >> bits_);
      held_ &= (1U << bits_) - 1;
    }
  }
  return true;
}

bool looks_like_base64(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return kValues[static_cast<unsigned char>(c)] != kNone || c == '=' || is_space(c);
  });
}

}  // namespace reprise::importing
