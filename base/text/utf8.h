#pragma once

// UTF-8 (RFC 3629). Pure.

#include <cstddef>
#include <string_view>

namespace reprise {

/// Checks piece by piece whether bytes are UTF-8.
class Utf8Check {
 public:
  void append(std::string_view bytes);
  bool finish() const { return good_ && missing_ == 0; }
  bool good() const { return good_; }

 private:
  bool good_ = true;
  unsigned missing_ = 0;  ///< bytes still missing of the current character
  unsigned char least_ = 0x80;
  unsigned char most_ = 0xbf;
};

bool is_utf8(std::string_view text);

/// The start of `text`, at most so many bytes, and not cut inside a character.
std::string_view utf8_start(std::string_view text, std::size_t bytes_max);

}  // namespace reprise
