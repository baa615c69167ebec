#pragma once

// The connections of a changed load, and what waits for them. Pure.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "analysis/dependency/dependency_graph.h"

namespace reprise {

/// A request that is made before it is used: what happens to it before does not count until then.
struct EarlyRequest {
  bool is_made = false;
  bool is_used = false;
  std::vector<DependencyAfter> happened;
};

/// When what others follow happened to a node.
class Happenings {
 public:
  /// Before all else, as long as it did not.
  double& at_us(DependencyAfter after) { return us_[static_cast<std::size_t>(after)]; }

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  std::array<double, 4> us_{kNever, kNever, kNever, kNever};
};

struct LoadConnection {
  std::size_t on_link = 0;
  std::vector<double> setup_us;  ///< of its phases that are left, from the last one on
  std::size_t tls_phases = 0;    ///< of them, after TCP is connected
  bool is_ready = false;
  double asked_us = 0;                 ///< when the last request is at the server
  double delivered_us = 0;             ///< when what has come out of the link is there
  std::vector<std::uint32_t> waiting;  ///< HTTP/2: requests that are sent when it is
  std::optional<std::size_t> origin;   ///< HTTP/1.1: the one whose requests it takes
  /// This request looks up a name that does not exist, and never connects.
  std::optional<std::uint32_t> nameless;

  /// When a request is there that would be at `at_us`: not before those that were sent earlier.
  double ask(double at_us) { return asked_us = std::max(asked_us, at_us); }
  bool has_tcp() const { return is_ready || setup_us.size() < tls_phases; }
};

struct LoadOrigin {
  /// Browsers open no more of HTTP/1.1 to an origin.
  static constexpr std::size_t kConnectionsMax = 6;
  /// If the first one has no TCP connection after this, Chromium makes another one, lest its SYN
  /// was lost; while the name is looked up it waits as long again
  /// (transport_client_socket_pool.cc).
  static constexpr double kBackupUs = 250'000;
  static double backup_after_us(double dns_us) {
    return (std::floor(dns_us / kBackupUs) + 1) * kBackupUs;
  }

  std::optional<std::uint32_t> shared;  ///< HTTP/2: its connection
  std::optional<double> looked_up_us;   ///< HTTP/2: when its look-up ends, if it shares another's
  // HTTP/1.1. A request takes the first connection that is free, whichever it was made for.
  std::size_t open = 0;
  std::uint32_t first = 0;     ///< the connection, once one is open
  std::size_t connecting = 0;  ///< of them
  double named_us = 0;         ///< when its name is known, once one is open
  std::vector<std::uint32_t> idle;
  /// Requests, for any connection: by urgency, then in the order of asking, as in Chromium's pool.
  std::multimap<int, std::uint32_t> waiting;

  bool needs_another() const { return open < kConnectionsMax && connecting < waiting.size(); }
  bool may_have_backup() const { return open < kConnectionsMax && !waiting.empty(); }
  /// The one that was used last.
  std::optional<std::uint32_t> take_idle() {
    if (idle.empty()) return std::nullopt;
    auto const taken = idle.back();
    idle.pop_back();
    return taken;
  }
};

}  // namespace reprise
