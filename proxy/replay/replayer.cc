#include "proxy/replay/replayer.h"

#include <algorithm>

namespace reprise {
namespace {}  // namespace

awaitable<TlsPlan> Replayer::plan_tls(const ConnectionInfo& connection, const ClientHello& hello) {
  host_ = hello.server_name.empty() ? connection.tunnel_host : hello.server_name;
  // Outside a tunnel the port is our listener's own and says nothing.
  auto const port =
      connection.tunnel_host.empty() ? default_port(Scheme::kHttps) : connection.tunnel_port;
  auto const& plans = replay_.tls_plans();
  auto plan =
      host_.empty() ? plans.unnamed(connection.local.address().to_string()) : plans.of(host_, port);
  auto const offers = [&hello](std::string_view alpn) {
    return std::ranges::find(hello.alpn, alpn) != hello.alpn.end();
  };
  if (!offers(plan.alpn)) plan.alpn = offers("http/1.1") ? "http/1.1" : "";
  shown_ = plan.names;
  co_return plan;
}

bool Replayer::is_misdirected(const RequestHead& head) {
  if (head.version != HttpVersion::kH2 || head.host == host_ || head.host == coalesced_) {
    return false;
  }
  std::string host(head.host);
  if (host_.empty()) return false;  // whatever it asks for, it has nowhere else to go
  auto const& plans = replay_.tls_plans();
  if (!plans.knows(host) || !covers(shown_, host)) return true;
  // Where its own connection would not be h2, the client is to find that out.
  if (plans.of(host, head.port).alpn != "h2") return true;
  coalesced_ = std::move(host);
  return false;
}

Task<void> Replayer::serve(const ExchangeContext& context, const RequestHead& head,
                           BodyReader& body, ResponseWriter& writer) {
  if (is_misdirected(head)) return replay_.answer_misdirected(head, host_, writer);
  Replay::Arrival arrival{.at = context.arrived, .found = {}};
  auto const found =
      std::ranges::find(found_, context.stream_id, &decltype(found_)::value_type::first);
  if (found != found_.end()) {
    arrival.found = found->second;
    found_.erase(found);
  }
  return replay_.serve(head, std::move(arrival), body, writer);
}

StoredResponsePtr Replayer::stored(const ExchangeContext& context, const RequestHead& head) {
  if (is_misdirected(head)) return nullptr;
  Decision found;
  auto response = replay_.stored(head, found);
  if (found.kind != MatchKind::kMiss) found_.emplace_back(context.stream_id, found);
  return response;
}

}  // namespace reprise
