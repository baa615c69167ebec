#include "archive/digest.h"

#include <openssl/evp.h>

#include "archive/invariant.h"

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

}  // namespace reprise
