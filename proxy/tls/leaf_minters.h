#pragma once

#include <memory>
#include <span>
#include <vector>

#include "proxy/tls/client_hello.h"
#include "proxy/tls/leaf_minter.h"
#include "proxy/tls/prepared_leaves.h"

namespace reprise {

/// Whether a client with that ClientHello can verify a leaf with an RSA key (otherwise: ECDSA on
/// P-256) in a handshake of TLS 1.2 or 1.3.
bool takes_leaf(const ClientHello& hello, bool rsa);

/// One minter for each authority. Not thread-safe: one per thread.
class LeafMinters {
 public:
  /// `authorities`, at least one, must outlive it.
  static Result<LeafMinters> create(std::span<const CertificateAuthority> authorities);

  /// Other minters with the same keys, for another thread.
  LeafMinters twin() const;

  /// Prepares leaves of each authority for `names`, to be minted by PreparedLeaves::mint().
  std::vector<std::unique_ptr<PreparedLeaves>> prepare(std::span<const LeafNames> names) const;
  /// Uses what a twin has prepared, which outlives this.
  void use(std::span<const std::unique_ptr<PreparedLeaves>> prepared);

  /// That of the first authority whose leaves the client takes; without any, of the first.
  LeafMinter& for_client(const ClientHello& hello);

 private:
  std::vector<std::unique_ptr<LeafMinter>> minters_;
};

}  // namespace reprise
