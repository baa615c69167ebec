#include "archive/digest.h"

#include <openssl/evp.h>

#include "archive/invariant.h"

namespace reprise {

void Digester::Free::operator()(evp_md_ctx_st* context) const {
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

Sha256 sha256(std::span<const std::byte> bytes) {
  Digester digester;
  digester.update(bytes);
  return digester.finish();
}

}  // namespace reprise
