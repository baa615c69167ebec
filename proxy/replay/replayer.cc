#include "proxy/replay/replayer.h"

#include <algorithm>

namespace reprise {
namespace {

constexpr std::uint16_t kHttpsPort = 443;

}  // namespace

awaitable<TlsPlan> Replayer::plan_tls(const ConnectionInfo& connection, const ClientHello& hello) {
  host_ = hello.server_name.empty() ? connection.tunnel_host : hello.server_name;
  // Outside a tunnel the port is our listener's own and says nothing.
  auto const port = connection.tunnel_host.empty() ? kHttpsPort : connection.tunnel_port;
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

Task<void> Replayer::serve(const ExchangeContext&, const RequestHead& head, BodyReader& body,
                           ResponseWriter& writer) {
  if (is_misdirected(head)) return replay_.answer_misdirected(head, host_, writer);
  return replay_.serve(head, body, writer);
}

const StoredResponse* Replayer::stored(const ExchangeContext&, const RequestHead& head) {
  return is_misdirected(head) ? nullptr : replay_.stored(head);
}

}  // namespace reprise
