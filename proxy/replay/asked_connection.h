#pragma once

#include <string>

#include "base/http/message.h"
#include "proxy/replay/tls_plans.h"

namespace reprise {

/// The connection that requests come over, as far as it says whether they belong on it (RFC 9110
/// section 15.5.20). Belongs to one connection's thread.
class AskedConnection {
 public:
  /// Of clear text: whatever is asked for belongs here.
  AskedConnection() = default;
  /// `host`: whom the client asked for when it connected, empty if it did not say. `shown`: what
  /// the certificate says.
  AskedConnection(std::string host, LeafNames shown)
      : host_(std::move(host)), shown_(std::move(shown)) {}

  const std::string& host() const { return host_; }
  /// Whether the client is to ask for `head.host` on a connection of its own. A browser sends
  /// requests for a host over another's h2 connection where the certificate has both: in order
  /// where the host would speak h2 on its own connection, too.
  bool is_misdirected(const RequestHead& head, const TlsPlans& plans);

 private:
  std::string host_;
  LeafNames shown_;
  std::string coalesced_;  // another host that was found in order, the last one
};

}  // namespace reprise
