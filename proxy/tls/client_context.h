#pragma once

// The client side of TLS, towards origins: trusted authorities, the offer, and the result.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/digest.h"
#include "base/result.h"
#include "proxy/tls/client_hello.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

struct ClientTrust {
  std::filesystem::path extra_ca;  ///< PEM, trusted besides the system's authorities; can be empty
  bool verify = true;              ///< false: accept any certificate
};

/// The context of all connections to origins: TLS 1.2 and 1.3, sessions never resumed. Reading the
/// system's trust store takes about 20 ms: make one and share it. Thread-safe once made. Errors:
/// the system error of opening `extra_ca`; trust_errc::trust_file_unusable.
Result<SslContextPtr> make_client_context(const ClientTrust& trust);

/// A connection to `host` (a name or an IP literal without brackets; the certificate must be for
/// it), ready to connect. It offers `alpn`, and the versions, cipher suites, groups and signature
/// algorithms of `like` (can be null) in its order, if OpenSSL knows them and they are secure
/// today; if none of a list is usable, OpenSSL's own choice. Errors: invalid_argument for an
/// invalid host name, or an ALPN name that is empty or too long.
Result<SslPtr> make_client_ssl(SSL_CTX& context, std::string_view host,
                               std::span<const std::string> alpn, const ClientHello* like);

/// The result of a handshake; the fields of ConnectionFacts.
struct PeerFacts {
  std::string tls_version;  ///< "TLSv1.3"
  std::string cipher;
  std::string alpn;  ///< the origin's choice, empty if none
  /// DNS names (lower case, wildcards kept) and IP literals of the leaf, at most
  /// LeafMinter::kNamesMax; invalid names are dropped.
  std::vector<std::string> certificate_names;
  std::uint32_t chain_bytes = 0;  ///< DER length of all certificates sent
  Sha256 chain_digest{};          ///< over those DER bytes in order
};

/// After the handshake of a client-side `ssl`.
PeerFacts read_peer_facts(const SSL& ssl);

/// Why the origin's certificate was refused, as a text: "certificate has expired". Empty if it was
/// not refused or not checked: the handshake then failed for another reason.
std::string describe_verify_error(const SSL& ssl);

}  // namespace reprise
