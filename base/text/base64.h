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

/// Decodes the standard alphabet with padding and without line breaks. Returns nothing for any
/// other text.
std::optional<std::string> decode_base64(std::string_view text);

/// Decodes base64 of either alphabet piece by piece. White space is skipped, padding can be
/// missing.
class Base64Decoder {
 public:
  /// Appends the bytes of `text` to `out`. False if a character is not base64 or follows the
  /// padding.
  bool append(std::string_view text, std::string& out);
  /// Whether the text so far is a whole number of bytes.
  bool is_whole() const { return bits_ < 6; }

 private:
  std::uint32_t held_ = 0;
  int bits_ = 0;
  bool padded_ = false;
};

/// Whether `text` contains base64 characters only.
bool looks_like_base64(std::string_view text);

}  // namespace reprise
