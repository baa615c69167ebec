#pragma once

// Heads of requests and responses in transit: they borrow their text from their parser or store.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/http/headers.h"
#include "base/http/version.h"

namespace reprise {

struct RequestHead {
  std::string_view method;
  Scheme scheme = Scheme::kHttp;
  std::string_view host;  ///< lower case, no port, no brackets
  std::uint16_t port = 0;
  std::string_view target;  ///< origin-form (path and query), or "*"
  HttpVersion version = HttpVersion::kHttp11;
  HeaderList headers;  ///< as received, including hop-by-hop fields
  /// The protocol that the client asks to switch to: "websocket", or empty. h1 sends it in Upgrade,
  /// h2 in :protocol with the method CONNECT; here the method is GET for both. A handler accepts
  /// with status 101 for both, and then reads and writes the bytes of that protocol.
  std::string_view protocol = {};
};

struct ResponseHead {
  HttpVersion version = HttpVersion::kHttp11;
  std::uint16_t status = 0;
  std::string_view reason;
  HeaderList headers;  ///< as received, including hop-by-hop fields
};

/// The three digits of the status line and of :status; more if an origin sent more.
inline std::string status_text(std::uint16_t status) {
  auto const digits = std::to_string(status);
  return std::string(3 - std::min<std::size_t>(digits.size(), 3), '0') + digits;
}

inline bool is_interim(std::uint16_t status) {
  return status >= 100 && status < 200;
}

/// Whether a response of this kind can have content at all (RFC 9110 section 6.4.1).
inline bool may_have_body(std::string_view request_method, std::uint16_t status) {
  return request_method != "HEAD" && status != 204 && status != 304 && !is_interim(status);
}

}  // namespace reprise
