#pragma once

#include <cstdint>
#include <string_view>

namespace reprise {

enum class Scheme : std::uint8_t { kHttp = 1, kHttps = 2 };
enum class HttpVersion : std::uint8_t { kUnknown = 0, kHttp10 = 1, kHttp11 = 2, kH2 = 3, kH3 = 4 };

/// HTTP/1.0 and HTTP/1.1, where a body without a length ends with its connection (RFC 9112). False
/// for kUnknown, too: some imports do not tell.
constexpr bool is_http1(HttpVersion version) {
  return version == HttpVersion::kHttp10 || version == HttpVersion::kHttp11;
}

std::string_view to_string(Scheme scheme);
std::string_view to_string(HttpVersion version);  // "HTTP/1.1", "h2", ...
std::uint16_t default_port(Scheme scheme);

}  // namespace reprise
