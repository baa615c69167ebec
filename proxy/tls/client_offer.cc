#include "proxy/tls/client_offer.h"

#include <openssl/err.h>
#include <openssl/obj_mac.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

namespace reprise {
namespace {

struct NamedCode {
  std::uint16_t code;
  const char* name;
};

/// IANA's TLS supported groups that OpenSSL 3.0 has, with its names.
constexpr std::array kGroups = {
    NamedCode{0x001d, "X25519"},    NamedCode{0x0017, "P-256"},     NamedCode{0x0018, "P-384"},
    NamedCode{0x0019, "P-521"},     NamedCode{0x001e, "X448"},      NamedCode{0x0100, "ffdhe2048"},
    NamedCode{0x0101, "ffdhe3072"}, NamedCode{0x0102, "ffdhe4096"}, NamedCode{0x0103, "ffdhe6144"},
    NamedCode{0x0104, "ffdhe8192"},
};

/// IANA's TLS signature schemes, without those that hash with SHA-1 or SHA-224.
constexpr std::array kSignatureSchemes = {
    NamedCode{0x0403, "ecdsa_secp256r1_sha256"},
    NamedCode{0x0503, "ecdsa_secp384r1_sha384"},
    NamedCode{0x0603, "ecdsa_secp521r1_sha512"},
    NamedCode{0x0804, "rsa_pss_rsae_sha256"},
    NamedCode{0x0805, "rsa_pss_rsae_sha384"},
    NamedCode{0x0806, "rsa_pss_rsae_sha512"},
    NamedCode{0x0809, "rsa_pss_pss_sha256"},
    NamedCode{0x080a, "rsa_pss_pss_sha384"},
    NamedCode{0x080b, "rsa_pss_pss_sha512"},
    NamedCode{0x0401, "rsa_pkcs1_sha256"},
    NamedCode{0x0501, "rsa_pkcs1_sha384"},
    NamedCode{0x0601, "rsa_pkcs1_sha512"},
    NamedCode{0x0807, "ed25519"},
    NamedCode{0x0808, "ed448"},
};

template <class Range, class T>
bool contains(const Range& values, const T& value) {
  return std::ranges::find(values, value) != std::ranges::end(values);
}

/// The codes' names in their order, joined by colons. Repeated codes are dropped: OpenSSL rejects
/// lists with duplicates.
std::string join_names(std::span<const std::uint16_t> codes, std::span<const NamedCode> known) {
  std::string joined;
  std::vector<const NamedCode*> taken;
  for (std::uint16_t const code : codes) {
    auto const named = std::ranges::find(known, code, &NamedCode::code);
    if (named == known.end() || contains(taken, &*named)) continue;
    taken.push_back(&*named);
    if (!joined.empty()) joined += ':';
    joined += named->name;
  }
  return joined;
}

/// Encrypts with at least 128 bits, and requires a certificate of the origin.
bool is_sound(const SSL_CIPHER* cipher) {
  constexpr std::array kAuthentications = {NID_auth_rsa, NID_auth_ecdsa, NID_auth_any};
  constexpr std::array kKeyExchanges = {NID_kx_rsa, NID_kx_dhe, NID_kx_ecdhe, NID_kx_any};
  return SSL_CIPHER_get_bits(cipher, nullptr) >= 128 &&
         contains(kAuthentications, SSL_CIPHER_get_auth_nid(cipher)) &&
         contains(kKeyExchanges, SSL_CIPHER_get_kx_nid(cipher));
}

void offer_cipher_suites(SSL* ssl, std::span<const std::uint16_t> suites) {
  std::string tls12;
  std::string tls13;
  std::vector<const SSL_CIPHER*> taken;
  for (std::uint16_t const suite : suites) {
    unsigned char const code[2] = {static_cast<unsigned char>(suite >> 8),
                                   static_cast<unsigned char>(suite & 0xff)};
    const SSL_CIPHER* const cipher = SSL_CIPHER_find(ssl, code);
    if (cipher == nullptr || !is_sound(cipher) || contains(taken, cipher)) continue;
    taken.push_back(cipher);
    std::string& list = suite >> 8 == 0x13 ? tls13 : tls12;
    if (!list.empty()) list += ':';
    list += SSL_CIPHER_get_name(cipher);
  }
  if (!tls12.empty()) SSL_set_cipher_list(ssl, tls12.c_str());
  if (!tls13.empty()) SSL_set_ciphersuites(ssl, tls13.c_str());
}

void offer_versions(SSL* ssl, std::span<const std::uint16_t> versions) {
  bool const tls12 = contains(versions, TLS1_2_VERSION);
  bool const tls13 = contains(versions, TLS1_3_VERSION);
  if (tls12 && !tls13) SSL_set_max_proto_version(ssl, TLS1_2_VERSION);
  if (tls13 && !tls12) SSL_set_min_proto_version(ssl, TLS1_3_VERSION);
}

}  // namespace

void offer_like(SSL* ssl, const ClientHello& hello) {
  offer_versions(ssl, hello.versions);
  offer_cipher_suites(ssl, hello.cipher_suites);
  if (auto const groups = join_names(hello.groups, kGroups); !groups.empty()) {
    SSL_set1_groups_list(ssl, groups.c_str());
  }
  auto const algorithms = join_names(hello.signature_algorithms, kSignatureSchemes);
  if (!algorithms.empty()) SSL_set1_sigalgs_list(ssl, algorithms.c_str());
  ERR_clear_error();  // if OpenSSL rejects a list, its own stays in use
}

}  // namespace reprise
