#pragma once

// The identity of a request, and its other compared properties.

#include <cstdint>
#include <string>
#include <string_view>

#include "archive/exchange.h"
#include "archive/record.h"

namespace reprise {

/// The identity of a request. Borrows its text.
struct MatchKey {
  std::string_view method;
  Scheme scheme = Scheme::kHttp;
  std::string_view host;  ///< lower case
  std::uint16_t port = 0;
  std::string_view target;  ///< path and query
  Sha256 body_digest{};     ///< all zero for no body
};

/// A request to answer. Borrows everything.
struct AskedRequest {
  MatchKey key;
  HeaderList headers;
  std::uint64_t body_bytes = 0;  ///< length of the content
  Bytes body;                    ///< all of it, or nothing if it was not held
  /// False for a recorded request whose content is incomplete, as it was answered, cut or failed
  /// before: the length of the received part is random, and not compared.
  bool body_counts = true;
  /// Whether its answer stays the next one of its sequence: HEAD that is answered from GET.
  bool peeks = false;
};

MatchKey key_of(const StoredRequest& request);
/// The recorded request as a new request. `body`: its content, or nothing.
AskedRequest asked_as(const StoredRequest& request, Bytes body);

std::string url_of(const MatchKey& key);

/// Whether both requests have the same Origin and the same fields of a CORS preflight
/// (Access-Control-Request-Method and -Headers): then a response to one allows the other as much.
bool same_cors_fields(HeaderList a, HeaderList b);

/// Whether both have the same method, scheme, host, port and path.
bool same_place(const MatchKey& a, const MatchKey& b);

/// Hash of the whole key, as stored in the index. FORMAT.md defines it.
std::uint64_t key_hash(const MatchKey& key);
/// Hash of host and path alone (no scheme, port, method, query or body): finds near misses.
std::uint64_t path_hash(std::string_view host, std::string_view target);

}  // namespace reprise
