#pragma once

#include <string>

#include "base/http/message.h"
#include "proxy/replay/tls_plans.h"

namespace reprise {

/// A connection, with the data to decide whether requests belong on it (RFC 9110 section 15.5.20).
/// Belongs to one connection's thread.
class AskedConnection {
 public:
  /// For plain text: every request belongs here.
  AskedConnection() = default;
  /// `host`: the host for which the client connected, empty if unknown. `shown`: the names in the
  /// certificate.
  AskedConnection(std::string host, LeafNames shown)
      : host_(std::move(host)), shown_(std::move(shown)) {}

  const std::string& host() const { return host_; }
  /// Whether the client must request `head.host` on a separate connection. A browser sends requests
  /// for a host over another host's h2 connection if the certificate has both; that is valid if the
  /// host would also use h2 on its own connection.
  bool is_misdirected(const RequestHead& head, const TlsPlans& plans);

 private:
  std::string host_;
  LeafNames shown_;
  std::string coalesced_;  // the last other host that was found valid
};

}  // namespace reprise
