#include "tools/browser/digest.h"

#include <openssl/evp.h>

#include <cstddef>
#include <limits>
#include <span>

#include "archive/digest.h"

namespace reprise {

std::string sha256_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (std::byte const byte : sha256(std::as_bytes(std::span(bytes)))) {
    hex.push_back(kDigits[std::to_integer<unsigned>(byte) >> 4]);
    hex.push_back(kDigits[std::to_integer<unsigned>(byte) & 15]);
  }
  return hex;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > std::numeric_limits<int>::max()) return std::nullopt;
  // OpenSSL also takes white space around the text, and bytes after padding.
  auto const digits = text.substr(0, text.find('='));
  auto const padding = text.size() - digits.size();
  if (padding > 2 || text.substr(digits.size()).find_first_not_of('=') != std::string_view::npos ||
      digits.find_first_of(" \t\r\n-") != std::string_view::npos) {
    return std::nullopt;
  }
  std::string out(text.size() / 4 * 3, '\0');
  int const size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size != static_cast<int>(out.size())) return std::nullopt;
  out.resize(out.size() - padding);
  return out;
}

}  // namespace reprise
