#include "proxy/quic/gnutls_credentials.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <vector>

namespace reprise {
namespace {

/// TLS 1.3 alone, as QUIC needs it (RFC 9001 section 4.2). X25519 comes first, as in browsers: a
/// HelloRetryRequest would cost a round trip.
constexpr const char* kPriorities =
    "%DISABLE_TLS13_COMPAT_MODE:NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:"
    "+AES-256-GCM:+CHACHA20-POLY1305:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1";
constexpr unsigned char kAlpn[] = {'h', '3'};

std::error_code refused() {
  return std::make_error_code(std::errc::invalid_argument);
}

/// Calls an i2d function of OpenSSL twice, as its interface is.
template <class Object, class Encode>
std::vector<unsigned char> der_of(Object* object, Encode encode) {
  int const size = encode(object, nullptr);
  std::vector<unsigned char> der(size > 0 ? static_cast<std::size_t>(size) : 0);
  unsigned char* out = der.data();
  if (!der.empty()) encode(object, &out);
  return der;
}

gnutls_datum_t datum_of(std::vector<unsigned char>& bytes) {
  return {.data = bytes.data(), .size = static_cast<unsigned>(bytes.size())};
}

}  // namespace

Result<std::shared_ptr<const GnutlsChain>> GnutlsChain::create(const Leaf& leaf,
                                                               const LeafMinter& minter) {
  std::shared_ptr<GnutlsChain> chain(new GnutlsChain);
  for (X509* const certificate : {leaf.certificate.get(), minter.authority().certificate()}) {
    auto der = der_of(certificate, i2d_X509);
    auto const datum = datum_of(der);
    auto& place = chain->certificates_[chain->count_];
    if (gnutls_pcert_import_x509_raw(&place, &datum, GNUTLS_X509_FMT_DER, 0) != 0) {
      return fail(refused());
    }
    ++chain->count_;
  }
  auto key = der_of(minter.key(), i2d_PrivateKey);
  auto const datum = datum_of(key);
  bool const imported =
      gnutls_privkey_init(&chain->key_) == 0 &&
      gnutls_privkey_import_x509_raw(chain->key_, &datum, GNUTLS_X509_FMT_DER, nullptr, 0) == 0;
  OPENSSL_cleanse(key.data(), key.size());
  if (!imported) return fail(refused());
  return chain;
}

GnutlsChain::~GnutlsChain() {
  for (unsigned i = 0; i < count_; ++i) gnutls_pcert_deinit(&certificates_[i]);
  if (key_ != nullptr) gnutls_privkey_deinit(key_);
}

Result<std::unique_ptr<GnutlsCredentials>> GnutlsCredentials::create(LeafMinter& minter) {
  std::unique_ptr<GnutlsCredentials> made(new GnutlsCredentials(minter));
  if (gnutls_certificate_allocate_credentials(&made->credentials_) != 0) {
    return fail(std::make_error_code(std::errc::not_enough_memory));
  }
  if (gnutls_priority_init(&made->priority_, kPriorities, nullptr) != 0 ||
      gnutls_session_ticket_key_generate(&made->ticket_key_) != 0) {
    return fail(refused());
  }
  return made;
}

GnutlsCredentials::~GnutlsCredentials() {
  if (credentials_ != nullptr) gnutls_certificate_free_credentials(credentials_);
  if (priority_ != nullptr) gnutls_priority_deinit(priority_);
  gnutls_memset(ticket_key_.data, 0, ticket_key_.size);
  gnutls_free(ticket_key_.data);
}

Result<std::shared_ptr<const GnutlsChain>> GnutlsCredentials::chain(const LeafNames& names) {
  std::string key = std::to_string(names.chain_bytes);
  for (const std::string& name : names.names) key.append(" ").append(name);
  if (auto const found = by_key_.find(key); found != by_key_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
    return found->second->chain;
  }
  auto const leaf = minter_.leaf(key, names);
  if (!leaf) return fail(leaf.error());
  auto chain = GnutlsChain::create(**leaf, minter_);
  if (!chain) return chain;
  kept_.push_front({.key = std::move(key), .chain = *chain});
  by_key_.emplace(kept_.front().key, kept_.begin());
  if (kept_.size() > kChainsMax) {
    by_key_.erase(kept_.back().key);
    kept_.pop_back();
  }
  return chain;
}

void GnutlsCredentials::set_chooser(gnutls_certificate_retrieve_function3* choose) {
  gnutls_certificate_set_retrieve_function3(credentials_, choose);
}

gnutls_session_t GnutlsCredentials::make_session() const {
  gnutls_session_t session = nullptr;
  if (gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET | GNUTLS_NO_SIGNAL) != 0) {
    return nullptr;
  }
  gnutls_datum_t const alpn{.data = const_cast<unsigned char*>(kAlpn), .size = sizeof kAlpn};
  bool const ready = gnutls_priority_set(session, priority_) == 0 &&
                     gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials_) == 0 &&
                     gnutls_alpn_set_protocols(session, &alpn, 1, GNUTLS_ALPN_MANDATORY) == 0 &&
                     gnutls_session_ticket_enable_server(session, &ticket_key_) == 0;
  if (ready) return session;
  gnutls_deinit(session);
  return nullptr;
}

}  // namespace reprise
