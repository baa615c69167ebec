#pragma once

#include "proxy/replay/asked_connection.h"
#include "proxy/replay/replay_session.h"

namespace reprise {

/// One client connection of a replay: decides its TLS, and passes its requests to the session.
class ReplayConnection final : public ConnectionHandler {
 public:
  /// `session` must outlive this.
  explicit ReplayConnection(ReplaySession& session) : session_(session) {}

  awaitable<TlsPlan> plan_tls(const ConnectionInfo& connection, const ClientHello& hello) override;
  std::optional<LeafNames> plan_quic(const ConnectionInfo& connection) override;
  Task<void> serve(const ExchangeContext& context, const RequestHead& head, BodyReader& body,
                   ResponseWriter& writer) override;
  StoredResponsePtr stored(const ExchangeContext& context, const RequestHead& head) override;

 private:
  ReplaySession& session_;
  AskedConnection asked_;
};

}  // namespace reprise
