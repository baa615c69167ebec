#pragma once

// Base64 (RFC 4648).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace reprise {

/// The standard alphabet (section 4), with padding.
std::string base64(std::span<const std::byte> bytes);

/// Decodes the standard alphabet with padding and without line breaks. Nothing when `text` is
/// anything else.
std::optional<std::string> decode_base64(std::string_view text);

/// Decodes base64 of either alphabet that comes in pieces. White space is skipped, padding may be
/// missing.
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

}  // namespace reprise
