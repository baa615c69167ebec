#include "analysis/prediction/connection_pools.h"

#include <utility>

namespace reprise {

ConnectionPools::ConnectionPools(const LoadParts& parts, std::span<const NodeChange> changes,
                                 std::uint32_t document, TcpLink& link, LoadEvents& events)
    : parts_(parts),
      changes_(changes),
      document_(document),
      link_(link),
      events_(events),
      origins_(parts.origins.size()),
      connection_(parts.nodes.size()),
      has_queued_(parts.nodes.size()) {}

std::size_t ConnectionPools::origin_of(std::uint32_t node) const {
  return parts(changes_[node].coalesce ? document_ : node).origin;
}

LoadConnection* ConnectionPools::used_by(std::uint32_t node) {
  return connection_[node] ? &connections_[*connection_[node]] : nullptr;
}

void ConnectionPools::connect(double now_us, std::uint32_t node) {
  // Of HTTP/2, which it may not share: of another site's frame, or without cookies.
  auto const& own = parts(node).own_setup;
  bool const has_own =
      own.sum() > 0 && !changes_[node].coalesce && parts(node).protocol == PredictedProtocol::kH2;
  if (has_own) {
    return use(now_us, open(now_us, own, changed(node).looking_up_us(own), node), node);
  }
  if (changed(node).protocol() == PredictedProtocol::kH2) return share(now_us, node);
  // What it was queued for before a connection was needed, it is before one is made.
  bool const queues = parts(node).protocol == PredictedProtocol::kH2 &&
                      origins_[origin_of(node)].open > 0 && !has_queued_[node];
  if (!queues) return take_any(now_us, node);
  has_queued_[node] = true;
  events_.add(now_us + parts(node).queue_us, LoadEvent::kConnect, node);
}

/// Over HTTP/2, a host that shares another one's connection is still looked up, once (RFC 9113,
/// 9.1.1).
void ConnectionPools::look_up(double now_us, std::uint32_t node) {
  LoadOrigin& origin = origins_[origin_of(node)];
  if (!parts_.is_shared(origin_of(node)) || origin.looked_up_us) return;
  origin.looked_up_us = now_us + changed(node).looking_up_us(parts_.origins[origin_of(node)]);
}

/// Sends a request over HTTP/2 as soon as its host is looked up and the connection is ready.
void ConnectionPools::share(double now_us, std::uint32_t node) {
  look_up(now_us, node);
  auto const& looked_up_us = origins_[origin_of(node)].looked_up_us;
  bool const waits = looked_up_us && now_us < *looked_up_us;
  if (waits) return events_.add(*looked_up_us, LoadEvent::kConnect, node);
  use(now_us, shared_connection(now_us, node), node);
}

/// The connection of HTTP/2 that a request shares. Opens it if there is none yet.
std::uint32_t ConnectionPools::shared_connection(double now_us, std::uint32_t node) {
  auto& shared = origins_[shared_by(node)].shared;
  auto const& setup = parts_.origins[shared_by(node)];
  if (!shared) shared = open(now_us, setup, changed(node).looking_up_us(setup), node);
  return *shared;
}

void ConnectionPools::preconnect(double now_us, std::uint32_t node) {
  bool const is_h1 = changed(node).protocol() == PredictedProtocol::kH1;
  LoadOrigin& origin = origins_[is_h1 ? origin_of(node) : shared_by(node)];
  if (!is_h1) look_up(now_us, node);
  if (origin.shared || origin.open > 0) return;
  if (is_h1) return open_another(now_us, node);
  shared_connection(now_us, node);
}

/// A host that shared another one's connection is taken to connect as long as that one did.
ConnectionSetup ConnectionPools::setup_of_h1(std::uint32_t node) const {
  auto setup = parts_.origins[origin_of(node)];
  auto const& shared = parts_.origins[shared_by(node)];
  if (setup.connect_us > 0) return setup;
  setup.connect_us = shared.connect_us;
  setup.tls_us = shared.tls_us;
  return setup;
}

/// Begins to make a connection, of HTTP/1.1 for the requests of `origin`. It looks the name up for
/// `dns_us`.
std::uint32_t ConnectionPools::open(double now_us, const ConnectionSetup& setup, double dns_us,
                                    std::uint32_t node, std::optional<std::size_t> origin) {
  auto const made = static_cast<std::uint32_t>(connections_.size());
  connections_.push_back({.on_link = link_.connect(changed(node).longer(parts_.round_trip_us, 1)),
                          .setup_us = changed(node).setup_us(setup, dns_us),
                          .tls_phases = setup.tls_us > 0 ? 1U : 0U,
                          .origin = origin});
  set_up(now_us, made);
  return made;
}

/// Of HTTP/1.1. The name is looked up once.
void ConnectionPools::open_another(double now_us, std::uint32_t node) {
  LoadOrigin& origin = origins_[origin_of(node)];
  auto const setup = setup_of_h1(node);
  if (origin.open == 0) {
    auto const dns_us = changed(node).looking_up_us(setup);
    events_.add(now_us + LoadOrigin::backup_after_us(dns_us), LoadEvent::kBackup, node);
    origin.named_us = now_us + dns_us;
    origin.first = static_cast<std::uint32_t>(connections_.size());
  }
  ++origin.open;
  ++origin.connecting;
  open(now_us, setup, origin.named_us - now_us, node, origin_of(node));
}

/// Of HTTP/1.1.
void ConnectionPools::connect_backup(double now_us, std::uint32_t node) {
  LoadOrigin const& origin = origins_[origin_of(node)];
  bool const is_late = !connections_[origin.first].has_tcp() && origin.may_have_backup();
  if (is_late) open_another(now_us, node);
}

void ConnectionPools::answer_setup(double now_us, std::uint32_t connection) {
  LoadConnection const& made = connections_[connection];
  auto const wait_us = made.has_tcp() ? link_.handshake_wait_us(made.on_link) : link_.wait_us();
  events_.add(now_us + wait_us, LoadEvent::kSetupStep, connection);
}

void ConnectionPools::set_up(double now_us, std::uint32_t connection) {
  LoadConnection& made = connections_[connection];
  if (!made.setup_us.empty()) {
    events_.add(now_us + made.setup_us.back(), LoadEvent::kSetupAnswer, connection);
    made.setup_us.pop_back();
    return;
  }
  made.is_ready = true;
  if (made.nameless) return events_.add(now_us, LoadEvent::kFirstByte, *made.nameless);
  if (made.origin) {
    --origins_[*made.origin].connecting;
    return free(now_us, connection);
  }
  for (auto const node : std::exchange(made.waiting, {})) send(now_us, node);
}

void ConnectionPools::look_up_nameless(double now_us, std::uint32_t node) {
  connections_.push_back({.setup_us = changed(node).look_ups_us(), .nameless = node});
  set_up(now_us, static_cast<std::uint32_t>(connections_.size() - 1));
}

/// As soon as it is ready.
void ConnectionPools::use(double now_us, std::uint32_t connection, std::uint32_t node) {
  connection_[node] = connection;
  if (connections_[connection].is_ready) return send(now_us, node);
  connections_[connection].waiting.push_back(node);
}

void ConnectionPools::send(double now_us, std::uint32_t node) {
  events_.add(now_us + (has_queued_[node] ? 0 : parts(node).queue_us), LoadEvent::kSent, node);
}

/// HTTP/1.1: the first connection that is free takes the most urgent request.
void ConnectionPools::take_any(double now_us, std::uint32_t node) {
  LoadOrigin& origin = origins_[origin_of(node)];
  origin.waiting.insert({changed(node).urgency(), node});
  if (auto const idle = origin.take_idle()) return free(now_us, *idle);
  if (origin.needs_another()) open_another(now_us, node);
  bool const connects_ahead = parts_.connects_ahead && node == document_ && origin.open == 1;
  if (connects_ahead) open_another(now_us, node);
}

/// The connection of HTTP/1.1 has nothing to do.
void ConnectionPools::free(double now_us, std::uint32_t connection) {
  LoadOrigin& origin = origins_[*connections_[connection].origin];
  if (origin.waiting.empty()) return origin.idle.push_back(connection);
  use(now_us, connection, origin.waiting.extract(origin.waiting.begin()).mapped());
}

void ConnectionPools::leave(double now_us, std::uint32_t node) {
  auto const used = std::exchange(connection_[node], {});
  if (used && connections_[*used].origin) free(now_us, *used);
}

}  // namespace reprise
