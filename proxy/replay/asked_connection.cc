#include "proxy/replay/asked_connection.h"

namespace reprise {

bool AskedConnection::is_misdirected(const RequestHead& head, const TlsPlans& plans) {
  if (head.version != HttpVersion::kH2 || head.host == host_ || head.host == coalesced_) {
    return false;
  }
  if (host_.empty()) return false;  // there is no other connection for any of its requests
  std::string host(head.host);
  if (!plans.knows(host) || !covers(shown_, host)) return true;
  // If its own connection would not be h2, the client should find that out.
  if (plans.of(host, head.port).alpn != "h2") return true;
  coalesced_ = std::move(host);
  return false;
}

}  // namespace reprise
