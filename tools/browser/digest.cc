#include "tools/browser/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "archive/digest.h"
#include "archive/file.h"

namespace reprise {

namespace {

std::string hex(const Sha256& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::byte const byte : digest) {
    text.push_back(kDigits[std::to_integer<unsigned>(byte) >> 4]);
    text.push_back(kDigits[std::to_integer<unsigned>(byte) & 15]);
  }
  return text;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  return hex(sha256(std::as_bytes(std::span(bytes))));
}

Result<std::string> sha256_hex_of_file(const std::filesystem::path& path) {
  FileDescriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return fail(last_system_error());
  Digester digester;
  std::vector<std::byte> buffer(1 << 18);
  for (;;) {
    auto const got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(last_system_error());
    if (got == 0) return hex(digester.finish());
    digester.update(std::span(buffer).first(static_cast<std::size_t>(got)));
  }
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
