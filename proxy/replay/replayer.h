#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/replay/replay.h"

namespace reprise {

/// Hands each request of one connection to the replay, unless the connection is not the one to ask
/// on (RFC 9110 section 15.5.20).
class Replayer final : public ConnectionHandler {
 public:
  explicit Replayer(Replay& replay) : replay_(replay) {}

  awaitable<TlsPlan> plan_tls(const ConnectionInfo& connection, const ClientHello& hello) override;
  Task<void> serve(const ExchangeContext& context, const RequestHead& head, BodyReader& body,
                   ResponseWriter& writer) override;
  StoredResponsePtr stored(const ExchangeContext& context, const RequestHead& head) override;

 private:
  /// A browser sends requests for a host over another's connection where the certificate has both.
  bool is_misdirected(const RequestHead& head);

  Replay& replay_;
  std::vector<std::pair<std::uint64_t, Decision>> found_;  // by stream: what stored() left over
  std::string host_;       // whom the client asked for when it connected, empty if it did not say
  LeafNames shown_;        // what the certificate says
  std::string coalesced_;  // another host that was found in order, the last one
};

}  // namespace reprise
