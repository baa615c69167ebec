#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

#include "proxy/record/record_connection.h"

// The connections to origins of a client's connection.

namespace reprise {

awaitable<TlsPlan> RecordConnection::plan_tls(const ConnectionInfo& connection,
                                              const ClientHello& hello) {
  hello_ = hello;
  Target target{.scheme = Scheme::kHttps, .host = hello.server_name, .port = 443};
  if (!connection.tunnel_host.empty()) {
    if (target.host.empty()) target.host = connection.tunnel_host;
    target.port = connection.tunnel_port;
  }
  TlsPlan plan{.alpn = "http/1.1"};
  if (target.host.empty()) {
    plan.names.names = {connection.local.address().to_string()};
    co_return plan;
  }
  auto const reach =
      session_.dialer().has_rule(target) ? Reach::kAll : session_.reach().of_handshake(target.host);
  auto acquired = co_await dial(target, reach);
  if (acquired.connection == nullptr) {
    plan.names.names = {target.host};
    // An address that is refused here may be permitted to a later request.
    if (!acquired.private_refused) failed_.insert_or_assign(target, std::move(acquired.facts));
    co_return plan;
  }
  if (acquired.facts->alpn == "h2") plan.alpn = "h2";
  plan.tls_version = acquired.facts->tls_version;
  plan.names.chain_bytes = acquired.facts->chain_bytes;
  plan.names.names = acquired.facts->certificate_names;
  cover(plan.names, target.host);  // the user may have accepted the origin's
  co_return plan;
}

awaitable<RecordConnection::Acquired> RecordConnection::dial(const Target& target, Reach reach) {
  if (closed_) co_return Acquired{};
  dns::Ticket ticket;
  dialling_.insert(&ticket);
  dialled_now_.insert(target);
  auto hello = hello_;
  if (hello && target.h1_only) hello->alpn = {"http/1.1"};
  auto dialled = co_await session_.dialer().dial(
      target, hello ? &*hello : nullptr, ticket, [this](auto at) { return session_.time_of(at); },
      reach);
  dialling_.erase(&ticket);
  dialled_now_.erase(target);
  Acquired acquired{.fresh = true,
                    .private_refused = dialled.private_refused,
                    .facts = session_.keep(std::move(dialled.facts))};
  for (DialWaiter* const waiter : dial_waiters_) {
    // One that may reach further has to try by itself.
    bool const knows = waiter->target == target && waiter->reach == reach;
    if (!dialled.stream && !acquired.private_refused && knows) waiter->failed = acquired.facts;
    waiter->event.set();
  }
  if (!dialled.stream || closed_) {
    if (!closed_ && !acquired.private_refused) spdlog::warn("{}", acquired.facts->failure);
    co_return acquired;
  }
  auto connection = make_origin_connection(std::move(dialled.stream), acquired.facts->alpn, client_,
                                           std::move(dialled.forward));
  connection->facts = acquired.facts;
  connection->is_private = dialled.is_private;
  acquired.connection = connection.get();
  connections_.emplace(target, std::move(connection));
  ++running_;
  net::co_spawn(co_await net::this_coro::executor, acquired.connection->run(),
                [this](std::exception_ptr broken) {
                  if (--running_ == 0) all_ended_.set();
                  if (broken) std::rethrow_exception(broken);
                });
  co_return acquired;
}

void RecordConnection::forget_what_is_over() {
  std::erase_if(connections_, [](const auto& entry) { return entry.second->over(); });
  if (connections_.size() < kConnectionsMax) return;
  // Through an explicit proxy one client connection can request any number of hosts.
  auto const idle =
      std::ranges::find_if(connections_, [](const auto& entry) { return entry.second->idle(); });
  if (idle != connections_.end()) idle->second->close();
}

awaitable<RecordConnection::Acquired> RecordConnection::acquire(const Target& target, Reach reach) {
  while (true) {
    forget_what_is_over();
    auto const [first, last] = connections_.equal_range(target);
    for (auto at = first; at != last; ++at) {
      bool const reachable = reach == Reach::kAll || !at->second->is_private;
      if (reachable && at->second->available()) {
        co_return Acquired{.connection = at->second.get(), .facts = at->second->facts};
      }
    }
    if (auto const known = failed_.extract(target)) {
      co_return Acquired{.facts = std::move(known.mapped())};
    }
    // Streams of one h2 client share the connection that the first one dials.
    if (client_.alpn != "h2" || !dialled_now_.contains(target))
      co_return co_await dial(target, reach);
    DialWaiter dialled(dial_waiters_, target, reach);
    co_await dialled.event.wait();
    if (dialled.failed) co_return Acquired{.facts = std::move(dialled.failed)};
  }
}

RecordConnection::Target RecordConnection::target_of(const RequestHead& head) {
  Target target{.scheme = head.scheme, .host = std::string(head.host), .port = head.port};
  target.tunnel = !head.protocol.empty() && session_.dialer().forwards(target);
  if (head.protocol.empty() || client_.alpn != "h2") return target;
  // A WebSocket shares the connection if the origin supports that, as it would have without the
  // proxy; otherwise it gets its own.
  auto const [first, last] = connections_.equal_range(target);
  target.h1_only = std::none_of(
      first, last, [](const auto& entry) { return entry.second->takes_web_sockets(); });
  return target;
}

}  // namespace reprise
