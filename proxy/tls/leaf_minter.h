#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "archive/result.h"
#include "proxy/tls/certificate_authority.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// What a leaf certificate must show.
struct LeafNames {
  std::vector<std::string> names;  ///< DNS names (wildcards kept) and IP literals, first is the CN
  /// DER length of the recorded chain. Leaf and authority together are padded up to it (by an
  /// extension of no meaning), since a handshake's bytes cost time on a slow link. 0: no padding.
  std::uint32_t chain_bytes = 0;
};

/// A minted certificate, ready to be set on an SSL. Immutable.
struct Leaf {
  X509Ptr certificate;
};

/// Mints leaf certificates signed by the authority, all with one shared P-256 key, valid from
/// yesterday for a year (398 days at most), without AIA, OCSP or CRL addresses; and keeps the last
/// kLeavesMax of them. Not thread-safe: one a thread. The authority must outlive it.
class LeafMinter {
 public:
  static constexpr std::size_t kLeavesMax = 4096;
  static constexpr std::size_t kNamesMax = 1000;

  static Result<std::unique_ptr<LeafMinter>> create(const CertificateAuthority& authority);

  /// The leaf for `key` (the SNI, or the listener's default name), minted from `names` when it is
  /// not kept yet. Valid until the minter goes, or kLeavesMax other leaves were asked for: set it
  /// on an SSL (which takes its own reference) before the next call.
  /// Errors: invalid_argument for names that no certificate can carry.
  Result<const Leaf*> leaf(std::string_view key, const LeafNames& names);

  EVP_PKEY* key() const { return key_.get(); }
  const CertificateAuthority& authority() const { return *authority_; }

 private:
  LeafMinter() = default;
  const CertificateAuthority* authority_ = nullptr;
  PrivateKeyPtr key_;
  // The implementer chooses the cache.
};

}  // namespace reprise
