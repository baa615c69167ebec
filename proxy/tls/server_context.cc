#include "proxy/tls/server_context.h"

#include <openssl/err.h>

#include <span>

#include "base/invariant.h"

namespace reprise {
namespace {

constexpr const char* kCipherSuites =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
/// The key of the leaf chooses between ECDSA and RSA.
constexpr const char* kCiphersOfTls12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:"
    "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-RSA-AES128-SHA256:ECDHE-RSA-AES128-SHA:ECDHE-RSA-AES256-SHA";
/// OpenSSL's level that takes keys of 80 bits of security: RSA of 1024 bits.
constexpr int kLevelOfWeakKeys = 1;

void free_protocol(void*, void* protocol, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<std::string*>(protocol);
}

/// Where an SSL stores the protocol it accepts. The usual application data stays free for others.
int protocol_index() {
  static int const index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, free_protocol);
  return index;
}

int select_alpn(SSL* ssl, const unsigned char** chosen, unsigned char* chosen_bytes,
                const unsigned char* offered, unsigned offered_bytes, void*) {
  auto const* wanted = static_cast<const std::string*>(SSL_get_ex_data(ssl, protocol_index()));
  if (wanted == nullptr) return SSL_TLSEXT_ERR_NOACK;
  for (std::span list(offered, offered_bytes); !list.empty();) {
    std::size_t const length = list[0];
    if (length + 1 > list.size()) break;
    auto const protocol = list.subspan(1, length);
    if (std::string_view(reinterpret_cast<const char*>(protocol.data()), length) == *wanted) {
      *chosen = protocol.data();
      *chosen_bytes = static_cast<unsigned char>(length);
      return SSL_TLSEXT_ERR_OK;
    }
    list = list.subspan(1 + length);
  }
  return SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

Result<SslContextPtr> make_server_context(KeyStrength strength) {
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (!context) return fail(std::make_error_code(std::errc::not_enough_memory));
  SSL_CTX* const made = context.get();
  if (strength == KeyStrength::kWeak) SSL_CTX_set_security_level(made, kLevelOfWeakKeys);
  SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(made, TLS1_3_VERSION);
  SSL_CTX_set_options(made, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  // Browsers' first choice, and the least work for both sides: OpenSSL's own clients would select
  // AES-256.
  if (SSL_CTX_set_ciphersuites(made, kCipherSuites) != 1 ||
      SSL_CTX_set_cipher_list(made, kCiphersOfTls12) != 1) {
    return fail(std::make_error_code(std::errc::not_supported));
  }
  SSL_CTX_set_verify(made, SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_max_early_data(made, 0);
  SSL_CTX_set_recv_max_early_data(made, 0);
  // Tickets contain the sessions; a cache would grow with each client that does not use tickets.
  SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(made, select_alpn, nullptr);
  return context;
}

void choose_alpn(SSL* ssl, std::string protocol) {
  auto* const kept = static_cast<std::string*>(SSL_get_ex_data(ssl, protocol_index()));
  if (kept != nullptr) {
    *kept = std::move(protocol);
    return;
  }
  auto made = std::make_unique<std::string>(std::move(protocol));
  invariant(SSL_set_ex_data(ssl, protocol_index(), made.get()) == 1, "an SSL keeps its data");
  made.release();
}

Result<void> use_leaf(SSL* ssl, const Leaf& leaf, const LeafMinter& minter) {
  constexpr int kOverride = 1;
  // At once: each of them alone makes OpenSSL find out the type of the key.
  if (SSL_use_cert_and_key(ssl, leaf.certificate.get(), minter.key(), minter.chain(), kOverride)) {
    return {};
  }
  ERR_clear_error();
  return fail(std::make_error_code(std::errc::not_enough_memory));
}

std::optional<std::uint16_t> tls_version_number(std::string_view version) {
  if (version == "TLSv1.2") return TLS1_2_VERSION;
  if (version == "TLSv1.3") return TLS1_3_VERSION;
  return std::nullopt;
}

Result<void> use_tls_version(SSL* ssl, std::string_view version) {
  auto const number = tls_version_number(version);
  if (!number) return fail(std::make_error_code(std::errc::protocol_not_supported));
  SSL_set_min_proto_version(ssl, *number);
  SSL_set_max_proto_version(ssl, *number);
  return {};
}

}  // namespace reprise
