#include "archive/exchange.h"

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

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kComplete:
      return "complete";
    case Outcome::kCutByClient:
      return "cut by client";
    case Outcome::kCutByOrigin:
      return "cut by origin";
    case Outcome::kOriginFailed:
      return "origin failed";
  }
  return "unknown";
}

std::uint16_t default_port(Scheme scheme) {
  return scheme == Scheme::kHttps ? 443 : 80;
}

std::string url_of(const StoredRequest& request) {
  std::string url(to_string(request.scheme));
  auto const is_ipv6 = request.host.find(':') != std::string::npos;
  url += is_ipv6 ? "://[" + request.host + "]" : "://" + request.host;
  if (request.port != default_port(request.scheme)) url += ":" + std::to_string(request.port);
  // "*" and the authority form of CONNECT are no paths.
  if (!request.target.starts_with('/')) url += ' ';
  return url + request.target;
}

}  // namespace reprise
