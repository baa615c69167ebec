#include "proxy/replay/replay_connection.h"

#include <algorithm>

#include "proxy/tls/server_context.h"

namespace reprise {

awaitable<TlsPlan> ReplayConnection::plan_tls(const ConnectionInfo& connection,
                                              const ClientHello& hello) {
  auto host = hello.server_name.empty() ? connection.tunnel_host : hello.server_name;
  // Outside a tunnel the port is that of our listener and has no meaning.
  auto const port =
      connection.tunnel_host.empty() ? default_port(Scheme::kHttps) : connection.tunnel_port;
  auto const& plans = session_.tls_plans();
  auto plan =
      host.empty() ? plans.unnamed(connection.local.address().to_string()) : plans.of(host, port);
  auto const offers = [&hello](std::string_view alpn) {
    return std::ranges::find(hello.alpn, alpn) != hello.alpn.end();
  };
  if (!offers(plan.alpn)) plan.alpn = offers("http/1.1") ? "http/1.1" : "";
  // Like the protocol, the recorded version gives way to what the client can use.
  auto const version = tls_version_number(plan.tls_version);
  if (version && std::ranges::find(hello.versions, *version) == hello.versions.end()) {
    plan.tls_version.clear();
  }
  asked_ = AskedConnection(std::move(host), plan.names);
  co_return plan;
}

std::optional<LeafNames> ReplayConnection::plan_quic(const ConnectionInfo& connection) {
  auto const& plans = session_.tls_plans();
  auto const& host = connection.server_name;
  auto const address = connection.local.address().to_string();
  bool const speaks_h3 = host.empty() ? plans.unnamed_speaks_h3(address) : plans.speaks_h3(host);
  if (!speaks_h3) return std::nullopt;
  auto plan = host.empty() ? plans.unnamed(address) : plans.of(host, default_port(Scheme::kHttps));
  asked_ = AskedConnection(host, plan.names);
  return std::move(plan.names);
}

Task<void> ReplayConnection::serve(const ExchangeContext& context, const RequestHead& head,
                                   BodyReader& body, ResponseWriter& writer) {
  return session_.serve(head, asked_, context.arrived, body, writer);
}

StoredResponsePtr ReplayConnection::stored(const ExchangeContext&, const RequestHead& head) {
  return session_.stored(head, asked_);
}

}  // namespace reprise
