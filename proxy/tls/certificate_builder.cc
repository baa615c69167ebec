#include "proxy/tls/certificate_builder.h"

#include <openssl/bn.h>
#include <openssl/x509v3.h>

#include "base/invariant.h"

namespace reprise {

PrivateKeyPtr make_p256_key() {
  PrivateKeyPtr key(EVP_EC_gen("P-256"));
  invariant(key != nullptr, "OpenSSL makes P-256 keys");
  return key;
}

void set_random_serial(X509* certificate) {
  constexpr int kSerialBits = 128;
  BignumPtr const serial(BN_new());
  invariant(serial && BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1,
            "OpenSSL has random numbers");
  BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate));
}

void set_validity(X509* certificate, std::chrono::days lifetime) {
  X509_time_adj_ex(X509_getm_notBefore(certificate), -1, 0, nullptr);
  X509_time_adj_ex(X509_getm_notAfter(certificate), static_cast<int>(lifetime.count()), 0, nullptr);
}

void add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  ExtensionPtr const extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  invariant(extension && X509_add_ext(certificate, extension.get(), -1) == 1,
            "OpenSSL knows the certificate extension");
}

void sign(X509* certificate, EVP_PKEY* issuer_key) {
  invariant(X509_sign(certificate, issuer_key, EVP_sha256()) > 0, "OpenSSL signs certificates");
}

std::uint32_t der_bytes(X509* certificate) {
  int const length = i2d_X509(certificate, nullptr);
  invariant(length > 0, "a certificate has an encoding");
  return static_cast<std::uint32_t>(length);
}

}  // namespace reprise
