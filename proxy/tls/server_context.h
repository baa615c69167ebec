#pragma once

// The server side of TLS, towards clients: one SSL_CTX for the process, and per connection the
// origin's certificate, version and protocol.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/tls/leaf_minter.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// Of the keys of leaves.
enum class KeyStrength : std::uint8_t {
  kUsual,
  kWeak,  ///< down to RSA of 1024 bits, as in the root that Web Page Replay's callers trust
};

/// The context of all connections from clients: TLS 1.2 and 1.3, session tickets, no client
/// certificates, renegotiation, compression or early data. It has no certificate: use_leaf() sets
/// one on each SSL. Thread-safe once made; all threads share one, since a ticket is valid only for
/// the context that issued it. Errors: not_enough_memory.
Result<SslContextPtr> make_server_context(KeyStrength strength = KeyStrength::kUsual);

/// The protocol that `ssl` accepts by ALPN, before its handshake. A client that does not offer it
/// is answered without ALPN (so it uses HTTP/1.1), as it is if `protocol` is empty: call
/// SSL_get0_alpn_selected() afterwards.
void choose_alpn(SSL* ssl, std::string protocol);

/// Sets `leaf`, the key for which it was minted, and the authority as the chain, before the
/// handshake. `ssl` takes its own references. Errors: not_enough_memory.
Result<void> use_leaf(SSL* ssl, const Leaf& leaf, const LeafMinter& minter);

/// The number of a version that is served, as in ClientHello::versions. `version` is as
/// SSL_get_version() writes it: "TLSv1.2" or "TLSv1.3"; nothing for any other text.
std::optional<std::uint16_t> tls_version_number(std::string_view version);

/// Restricts `ssl` to one version, "TLSv1.2" or "TLSv1.3". A client that does not support it fails
/// its handshake. Errors: protocol_not_supported for any other text; the connection then keeps both
/// versions.
Result<void> use_tls_version(SSL* ssl, std::string_view version);

}  // namespace reprise
