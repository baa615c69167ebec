#include "base/http/version.h"

namespace reprise {

std::string_view to_string(Scheme scheme) {
  return scheme == Scheme::kHttps ? "https" : "http";
}

std::string_view to_string(HttpVersion version) {
  switch (version) {
    case HttpVersion::kHttp10:
      return "HTTP/1.0";
    case HttpVersion::kHttp11:
      return "HTTP/1.1";
    case HttpVersion::kH2:
      return "h2";
    case HttpVersion::kH3:
      return "h3";
    case HttpVersion::kUnknown:
      break;
  }
  return "unknown";
}

std::uint16_t default_port(Scheme scheme) {
  return scheme == Scheme::kHttps ? 443 : 80;
}

}  // namespace reprise
