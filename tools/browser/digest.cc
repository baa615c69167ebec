#include "tools/browser/digest.h"

#include <openssl/evp.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace reprise {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    std::fputs("reprise: OpenSSL has no SHA-256\n", stderr);
    std::abort();
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(std::size_t{2} * size);
  for (unsigned i = 0; i < size; ++i) {
    hex.push_back(kDigits[digest[i] >> 4]);
    hex.push_back(kDigits[digest[i] & 15]);
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
