#include "proxy/tls/leaf_minters.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>

#include "base/invariant.h"

namespace reprise {
namespace {

template <std::size_t kCount>
bool shares(const std::vector<std::uint16_t>& offered,
            const std::array<std::uint16_t, kCount>& wanted) {
  return std::ranges::find_first_of(offered, wanted) != offered.end();
}

// RFC 8446 section 4.2.3.
constexpr std::array<std::uint16_t, 3> kRsaPss = {0x0804, 0x0805, 0x0806};
constexpr std::array<std::uint16_t, 4> kRsaPkcs1 = {0x0401, 0x0501, 0x0601, 0x0201};
constexpr std::array<std::uint16_t, 1> kEcdsa = {0x0403};
// The suites of the server's context for TLS 1.2, by IANA's numbers.
constexpr std::array<std::uint16_t, 6> kRsaSuites = {0xc02f, 0xc030, 0xcca8,
                                                     0xc027, 0xc013, 0xc014};
constexpr std::array<std::uint16_t, 6> kEcdsaSuites = {0xc02b, 0xc02c, 0xcca9,
                                                       0xc023, 0xc009, 0xc00a};

}  // namespace

bool takes_leaf(const ClientHello& hello, bool rsa) {
  auto const& signatures = hello.signature_algorithms;
  bool const tls13 = std::ranges::find(hello.versions, TLS1_3_VERSION) != hello.versions.end();
  if (tls13) return rsa ? shares(signatures, kRsaPss) : shares(signatures, kEcdsa);
  auto const& suites = hello.cipher_suites;
  if (!(rsa ? shares(suites, kRsaSuites) : shares(suites, kEcdsaSuites))) return false;
  // Without the extension a client takes SHA-1 alone, which no server signs today.
  return rsa ? shares(signatures, kRsaPkcs1) || shares(signatures, kRsaPss)
             : shares(signatures, kEcdsa);
}

Result<LeafMinters> LeafMinters::create(std::span<const CertificateAuthority> authorities) {
  LeafMinters minters;
  for (const CertificateAuthority& each : authorities) {
    auto minter = LeafMinter::create(each);
    if (!minter) return fail(minter.error());
    minters.minters_.push_back(std::move(*minter));
  }
  return minters;
}

LeafMinters LeafMinters::twin() const {
  LeafMinters minters;
  for (auto const& each : minters_) minters.minters_.push_back(each->twin());
  return minters;
}

std::vector<std::unique_ptr<PreparedLeaves>> LeafMinters::prepare(
    std::span<const LeafNames> names) const {
  std::vector<std::unique_ptr<PreparedLeaves>> prepared;
  for (auto const& each : minters_) {
    prepared.push_back(std::make_unique<PreparedLeaves>(each->twin(), names));
  }
  return prepared;
}

void LeafMinters::use(std::span<const std::unique_ptr<PreparedLeaves>> prepared) {
  invariant(prepared.size() == minters_.size(), "leaves are prepared for each authority");
  for (std::size_t i = 0; i < minters_.size(); ++i) minters_[i]->use(*prepared[i]);
}

LeafMinter& LeafMinters::for_client(const ClientHello& hello) {
  auto const taken = std::ranges::find_if(minters_, [&hello](auto const& each) {
    return takes_leaf(hello, each->authority().is_rsa());
  });
  return taken == minters_.end() ? *minters_.front() : **taken;
}

}  // namespace reprise
