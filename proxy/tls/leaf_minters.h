#pragma once

#include <memory>
#include <span>
#include <vector>

#include "proxy/tls/client_hello.h"
#include "proxy/tls/leaf_minter.h"

namespace reprise {

/// Whether a client with that ClientHello can verify a leaf with an RSA key (otherwise: ECDSA on
/// P-256) in a handshake of TLS 1.2 or 1.3.
bool takes_leaf(const ClientHello& hello, bool rsa);

/// One minter for each authority. Not thread-safe: one per thread.
class LeafMinters {
 public:
  /// `authorities`, at least one, must outlive it.
  static Result<LeafMinters> create(std::span<const CertificateAuthority> authorities);

  /// That of the first authority whose leaves the client takes; without any, of the first.
  LeafMinter& for_client(const ClientHello& hello);

 private:
  std::vector<std::unique_ptr<LeafMinter>> minters_;
};

}  // namespace reprise
