#include "inject/base64.h"

#include <algorithm>
#include <string_view>

namespace reprise::inject {

std::string base64(std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(3, bytes.size()))) {
    auto const at = [bytes](std::size_t i) {
      return i < bytes.size() ? static_cast<unsigned>(bytes[i]) : 0U;
    };
    unsigned const group = at(0) << 16 | at(1) << 8 | at(2);
    text += kDigits[group >> 18];
    text += kDigits[group >> 12 & 63];
    text += bytes.size() > 1 ? kDigits[group >> 6 & 63] : '=';
    text += bytes.size() > 2 ? kDigits[group & 63] : '=';
  }
  return text;
}

}  // namespace reprise::inject
