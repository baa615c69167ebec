#include "archive/exchange.h"

#include "base/http/media_type.h"

namespace reprise {

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

std::string authority_of(Scheme scheme, std::string_view host, std::uint16_t port) {
  bool const v6 = host.find(':') != std::string_view::npos;
  std::string text(v6 ? "[" : "");
  text.append(host).append(v6 ? "]" : "");
  if (port != default_port(scheme)) text.append(":").append(std::to_string(port));
  return text;
}

std::string url_of(Scheme scheme, std::string_view host, std::uint16_t port,
                   std::string_view target) {
  std::string url(to_string(scheme));
  url.append("://").append(authority_of(scheme, host, port));
  // "*" and the authority form of CONNECT are not paths.
  if (!target.starts_with('/')) url += ' ';
  return url.append(target);
}

std::string url_of(const StoredRequest& request) {
  return url_of(request.scheme, request.host, request.port, request.target);
}

ResourceType resource_type(const Exchange& exchange) {
  if (!exchange.request.protocol.empty()) return ResourceType::kWebSocket;
  return resource_type(exchange.request.headers.list(),
                       media_type(exchange.response.headers.list()));
}

}  // namespace reprise
