#include "base/text/utf8.h"

namespace reprise {

void Utf8Check::append(std::string_view bytes) {
  for (char const c : bytes) {
    auto const byte = static_cast<unsigned char>(c);
    if (missing_ > 0) {
      good_ = good_ && byte >= least_ && byte <= most_;
      least_ = 0x80;
      most_ = 0xbf;
      --missing_;
    } else if (byte >= 0x80) {
      good_ = good_ && byte >= 0xc2 && byte <= 0xf4;
      missing_ = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
      // No overlong forms, no surrogates, nothing beyond U+10FFFF.
      if (byte == 0xe0) least_ = 0xa0;
      if (byte == 0xed) most_ = 0x9f;
      if (byte == 0xf0) least_ = 0x90;
      if (byte == 0xf4) most_ = 0x8f;
    }
    if (!good_) return;
  }
}

bool is_utf8(std::string_view text) {
  Utf8Check check;
  check.append(text);
  return check.finish();
}

std::string_view utf8_start(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

}  // namespace reprise
