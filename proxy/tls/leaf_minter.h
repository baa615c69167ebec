#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "proxy/tls/certificate_authority.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// The contents of a leaf certificate.
struct LeafNames {
  std::vector<std::string> names;  ///< DNS names (wildcards kept) and IP literals, first is the CN
  /// DER length of the recorded chain. Leaf and authority together are padded to it (by a
  /// meaningless extension), because a handshake's bytes cost time on a slow link. 0: no padding.
  std::uint32_t chain_bytes = 0;
};

/// A minted certificate, ready to be set on an SSL. Immutable.
struct Leaf {
  X509Ptr certificate;
};

/// Whether a certificate can carry `name`: an IP literal, or a DNS name of letters, digits, dots,
/// hyphens, underscores and asterisks of at most 253 characters.
bool is_certifiable(std::string_view name);

/// What leaves are kept by: equal for equal names and lengths.
std::string leaf_key(const LeafNames& names);

class PreparedLeaves;

/// Mints leaf certificates signed by the authority, all with one shared P-256 key (or the
/// authority's own, see lends_its_key()), valid from yesterday for a year (398 days at most),
/// without AIA, OCSP or CRL addresses; and keeps the last kLeavesMax of them. Not thread-safe: one
/// per thread, made by twin(). The authority must outlive it.
class LeafMinter {
 public:
  static constexpr std::size_t kLeavesMax = 4096;
  static constexpr std::size_t kNamesMax = 1000;
  /// Of the padding only. Chains on the web have 2 to 6 KB.
  static constexpr std::uint32_t kPaddingBytesMax = 16 << 10;

  static Result<std::unique_ptr<LeafMinter>> create(const CertificateAuthority& authority);
  /// Another minter with the same key, for another thread; it has no leaves yet.
  std::unique_ptr<LeafMinter> twin() const;

  /// Leaves that leaf() takes instead of minting its own, once they are there. `prepared` was made
  /// by a twin, and outlives this.
  void use(const PreparedLeaves& prepared) { prepared_ = &prepared; }

  /// The leaf for `key` (the SNI, or the listener's default name), minted from `names` if it is not
  /// kept. Valid until the minter is destroyed, or kLeavesMax other leaves were requested: set it
  /// on an SSL (which takes its own reference) before the next call. Errors: name_not_certifiable
  /// (equals errc::invalid_argument) for no names, more than kNamesMax of them, or one that is not
  /// is_certifiable().
  Result<const Leaf*> leaf(std::string_view key, const LeafNames& names);

  /// A leaf that is not kept. Errors: those of leaf().
  Result<Leaf> make(const LeafNames& names) const;

  /// The number of leaves that leaf() had to mint.
  std::uint64_t minted() const { return minted_; }

  EVP_PKEY* key() const { return key_.get(); }
  const CertificateAuthority& authority() const { return *authority_; }
  /// The authority's certificate, as OpenSSL takes what follows a leaf.
  STACK_OF(X509) * chain() const { return chain_.get(); }

 private:
  struct KeptLeaf {
    std::string key;
    Leaf leaf;
  };

  explicit LeafMinter(const CertificateAuthority& authority);
  X509Ptr mint(const LeafNames& names, GENERAL_NAMES* alternative_names) const;
  void sign_padded(X509* certificate, std::uint32_t chain_bytes) const;

  const CertificateAuthority* authority_;
  X509sPtr chain_;
  const PreparedLeaves* prepared_ = nullptr;
  std::uint64_t minted_ = 0;
  std::uint32_t authority_bytes_ = 0;
  PrivateKeyPtr key_;
  std::vector<ExtensionPtr> extensions_;  ///< shared by all leaves
  OidPtr padding_oid_;
  std::list<KeptLeaf> kept_;  ///< the most recently used first
  std::unordered_map<std::string_view, std::list<KeptLeaf>::iterator> by_key_;
};

}  // namespace reprise
