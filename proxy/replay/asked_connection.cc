#include "proxy/replay/asked_connection.h"

namespace reprise {

bool AskedConnection::is_misdirected(const RequestHead& head, const TlsPlans& plans) {
  bool const shareable = head.version == HttpVersion::kH2 || head.version == HttpVersion::kH3;
  if (!shareable || head.host == host_ || head.host == coalesced_) return false;
  if (host_.empty()) return false;  // there is no other connection for any of its requests
  std::string host(head.host);
  if (!plans.knows(host) || !covers(shown_, host)) return true;
  // If its own connection would be of another version, the client should find that out.
  bool const same = head.version == HttpVersion::kH3 ? plans.speaks_h3(host)
                                                     : plans.of(host, head.port).alpn == "h2";
  if (!same) return true;
  coalesced_ = std::move(host);
  return false;
}

}  // namespace reprise
