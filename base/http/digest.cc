#include "base/http/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/invariant.h"
#include "base/system/descriptor.h"
#include "base/system/last_error.h"

namespace reprise {

void FreeDigest::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

Digester::Digester() : context_(EVP_MD_CTX_new()) {
  invariant(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
            "OpenSSL offers no SHA-256");
}

void Digester::update(std::span<const std::byte> bytes) {
  invariant(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "SHA-256 failed");
}

Sha256 Digester::finish() {
  Sha256 digest{};
  invariant(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()),
                               nullptr) == 1,
            "SHA-256 failed");
  return digest;
}

NamedDigester::NamedDigester(const char* algorithm) : context_(EVP_MD_CTX_new()) {
  invariant(
      context_ && EVP_DigestInit_ex(context_.get(), EVP_get_digestbyname(algorithm), nullptr) == 1,
      "OpenSSL offers no such digest");
}

void NamedDigester::update(std::span<const std::byte> bytes) {
  invariant(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "a digest failed");
}

std::string NamedDigester::finish() {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  invariant(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()),
                               &size) == 1,
            "a digest failed");
  digest.resize(size);
  return digest;
}

Sha256 sha256(std::span<const std::byte> bytes) {
  Digester digester;
  digester.update(bytes);
  return digester.finish();
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (std::byte const byte : bytes) {
    text.push_back(kDigits[std::to_integer<unsigned>(byte) >> 4]);
    text.push_back(kDigits[std::to_integer<unsigned>(byte) & 15]);
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  return hex(sha256(std::as_bytes(std::span(bytes))));
}

Result<std::string> sha256_hex_of_file(const std::filesystem::path& path) {
  Descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
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

}  // namespace reprise
