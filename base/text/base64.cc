#include "base/text/base64.h"

#include <algorithm>
#include <array>

#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kAlphabet[i])] = i;
  values['-'] = 62;
  values['_'] = 63;
  return values;
}
constexpr auto kValues = make_values();

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(3, bytes.size()))) {
    auto const at = [bytes](std::size_t i) {
      return i < bytes.size() ? static_cast<unsigned>(bytes[i]) : 0U;
    };
    unsigned const group = at(0) << 16 | at(1) << 8 | at(2);
    text += kAlphabet[group >> 18];
    text += kAlphabet[group >> 12 & 63];
    text += bytes.size() > 1 ? kAlphabet[group >> 6 & 63] : '=';
    text += bytes.size() > 2 ? kAlphabet[group & 63] : '=';
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  auto const digits = text.substr(0, text.find('='));
  auto const padding = text.substr(digits.size());
  bool const has_others = digits.find_first_not_of(kAlphabet) != std::string_view::npos;
  if (text.size() % 4 != 0 || has_others || (padding != "" && padding != "=" && padding != "==")) {
    return std::nullopt;
  }
  std::string out;
  Base64Decoder().append(digits, out);
  return out;
}

bool Base64Decoder::append(std::string_view text, std::string& out) {
  std::size_t i = 0;
  out.reserve(out.size() + text.size() / 4 * 3 + 3);
  while (i < text.size()) {
    // Four characters are three bytes, unless something is unusual.
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
    if (is_white_space(c)) continue;
    if (c == '=') {
      padded_ = true;
      continue;
    }
    auto const value = kValues[static_cast<unsigned char>(c)];
    if (value == kNoDigit || padded_) return false;
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
    return kValues[static_cast<unsigned char>(c)] != kNoDigit || c == '=' || is_white_space(c);
  });
}

}  // namespace reprise
