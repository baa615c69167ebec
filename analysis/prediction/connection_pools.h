#pragma once

// Which connection each request of a changed load uses, and when it is sent over it. Pure. Times
// are in us, as real numbers.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/prediction/changed_node.h"
#include "analysis/prediction/load_connections.h"
#include "analysis/prediction/load_events.h"
#include "analysis/prediction/load_parts.h"
#include "analysis/prediction/tcp_link.h"

namespace reprise {

/// Each origin has one connection of HTTP/2, which can be another host's, or at most six of
/// HTTP/1.1. Adds an event for what happens later; its handler calls the function below that names
/// the event, and for kConnect connect(). Borrows all.
class ConnectionPools {
 public:
  /// `document`: the page's, whose connection requests with NodeChange::coalesce use.
  ConnectionPools(const LoadParts& parts, std::span<const NodeChange> changes,
                  std::uint32_t document, TcpLink& link, LoadEvents& events);

  /// A request asks for a connection: kSent follows as soon as it has one.
  void connect(double now_us, std::uint32_t node);
  /// As for a request, if there is no connection yet.
  void preconnect(double now_us, std::uint32_t node);
  /// For kBackup: makes a second connection if the first one still has no TCP, and a request waits.
  void connect_backup(double now_us, std::uint32_t node);
  /// For kSetupAnswer: a packet from the server comes to the link.
  void answer_setup(double now_us, std::uint32_t connection);
  /// For kSetupStep: that packet came out of the link. Goes on with what is left to set up.
  void set_up(double now_us, std::uint32_t connection);
  /// Of a request whose name does not exist: kFirstByte follows.
  void look_up_nameless(double now_us, std::uint32_t node);
  /// A request is over.
  void leave(double now_us, std::uint32_t node);

  /// The connection that a request uses; null if it has none.
  LoadConnection* used_by(std::uint32_t node);
  std::size_t origin_of(std::uint32_t node) const;

 private:
  const NodeParts& parts(std::uint32_t node) const { return parts_.nodes[node]; }
  ChangedNode changed(std::uint32_t node) const { return {parts(node), changes_[node]}; }
  /// The origin whose connection of HTTP/2 its requests use.
  std::size_t shared_by(std::uint32_t node) const { return parts_.shared_by(origin_of(node)); }
  ConnectionSetup setup_of_h1(std::uint32_t node) const;

  std::uint32_t open(double now_us, const ConnectionSetup& setup, double dns_us, std::uint32_t node,
                     std::optional<std::size_t> origin = {});
  void open_another(double now_us, std::uint32_t node);
  void look_up(double now_us, std::uint32_t node);
  void share(double now_us, std::uint32_t node);
  std::uint32_t shared_connection(double now_us, std::uint32_t node);
  void use(double now_us, std::uint32_t connection, std::uint32_t node);
  void send(double now_us, std::uint32_t node);
  void take_any(double now_us, std::uint32_t node);
  void free(double now_us, std::uint32_t connection);

  const LoadParts& parts_;
  std::span<const NodeChange> changes_;
  std::uint32_t document_;
  TcpLink& link_;
  LoadEvents& events_;
  std::vector<LoadOrigin> origins_;
  std::vector<LoadConnection> connections_;
  std::vector<std::optional<std::uint32_t>> connection_;  ///< that a node uses
  std::vector<bool> has_queued_;                          ///< by node
};

}  // namespace reprise
