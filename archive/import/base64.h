#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::importing {

/// Decodes base64 (RFC 4648, both alphabets) that comes in pieces. White space is skipped, padding
/// may be missing.
class Base64Decoder {
 public:
  /// Appends the bytes of `text` to `out`. False when a character is none of base64's, or follows
  /// the padding.
  bool append(std::string_view text, std::string& out);
  /// Whether what came is a whole number of bytes.
  bool is_whole() const { return bits_ < 6; }

 private:
  std::uint32_t held_ = 0;
  int bits_ = 0;
  bool padded_ = false;
};

/// Whether `text` holds nothing but base64's characters.
bool looks_like_base64(std::string_view text);

}  // namespace reprise::importing
