#pragma once

// Certificates for QUIC. OpenSSL 3.0 has no QUIC, so GnuTLS runs its handshakes, with the leaves
// and the key of a LeafMinter.

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include <array>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "proxy/tls/leaf_minter.h"

namespace reprise {

/// A leaf and its authority, with the key, as GnuTLS takes them. Immutable.
class GnutlsChain {
 public:
  /// Errors: invalid_argument if GnuTLS does not accept a certificate or the key.
  static Result<std::shared_ptr<const GnutlsChain>> create(const Leaf& leaf,
                                                           const LeafMinter& minter);
  ~GnutlsChain();
  GnutlsChain(const GnutlsChain&) = delete;
  GnutlsChain& operator=(const GnutlsChain&) = delete;

  // GnuTLS takes them by pointers that are not const, and does not change them.
  gnutls_pcert_st* certificates() const { return certificates_.data(); }
  unsigned count() const { return count_; }
  gnutls_privkey_t key() const { return key_; }

 private:
  GnutlsChain() = default;
  mutable std::array<gnutls_pcert_st, 2> certificates_{};
  unsigned count_ = 0;
  gnutls_privkey_t key_ = nullptr;
};

/// What the QUIC connections of one thread share in TLS: the chains, and the key of the session
/// tickets. TLS 1.3 only, ALPN h3 only, no early data. Not thread-safe.
class GnutlsCredentials {
 public:
  /// The chains kept, the most recently used ones.
  static constexpr std::size_t kChainsMax = 1024;

  /// `minter` must outlive it. Errors: not_enough_memory, or invalid_argument if GnuTLS misses
  /// something.
  static Result<std::unique_ptr<GnutlsCredentials>> create(LeafMinter& minter);
  ~GnutlsCredentials();
  GnutlsCredentials(const GnutlsCredentials&) = delete;
  GnutlsCredentials& operator=(const GnutlsCredentials&) = delete;

  /// The chain for a leaf with these names. Errors: those of LeafMinter::leaf() and GnutlsChain.
  Result<std::shared_ptr<const GnutlsChain>> chain(const LeafNames& names);

  /// A server's session. The owner of the connection is in its conn_ref (ngtcp2_crypto.h), and
  /// `choose` is asked for the chain. The caller frees it. Null if there is no memory.
  gnutls_session_t make_session() const;
  /// The function that chooses the certificate; one for all sessions.
  void set_chooser(gnutls_certificate_retrieve_function3* choose);

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<const GnutlsChain> chain;
  };
  explicit GnutlsCredentials(LeafMinter& minter) : minter_(minter) {}

  LeafMinter& minter_;
  gnutls_certificate_credentials_t credentials_ = nullptr;
  gnutls_priority_t priority_ = nullptr;
  gnutls_datum_t ticket_key_{};
  std::list<Kept> kept_;  // the most recently used first
  std::unordered_map<std::string_view, std::list<Kept>::iterator> by_key_;
};

}  // namespace reprise
