#pragma once

// The parts of one node of a load, or of one piece of work, under its change. Pure. Times are in
// us.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analysis/prediction/load_parts.h"
#include "analysis/prediction/page_change.h"

namespace reprise {

/// Borrows both.
struct ChangedNode {
  /// More are as good as that: times stay finite.
  static constexpr double kBytesMax = 1e15;

  const NodeParts& parts;
  const NodeChange& change;

  /// What takes so many round trips.
  double longer(double length_us, int round_trips) const {
    return std::max(0.0, length_us + round_trips * static_cast<double>(change.rtt_us));
  }
  /// Nothing if no name is looked up.
  double looking_up_us(const ConnectionSetup& setup) const {
    if (setup.dns_us == 0) return 0;
    return std::max(0.0, setup.dns_us + static_cast<double>(change.dns_us));
  }
  /// The phases of a connection that looks its name up for `dns_us`, the last one first.
  std::vector<double> setup_us(const ConnectionSetup& setup, double dns_us) const {
    std::vector<double> phases;
    for (double const phase_us : {setup.tls_us, setup.connect_us}) {
      if (phase_us > 0) phases.push_back(longer(phase_us, 1));
    }
    if (dns_us > 0) phases.push_back(dns_us);
    return phases;
  }
  /// Of a name that does not exist, the last one first.
  std::vector<double> look_ups_us() const {
    std::vector<double> look_ups;
    for (double const each_us : {parts.second_look_up_us, parts.own_setup.dns_us}) {
      if (each_us > 0)
        look_ups.push_back(std::max(0.0, each_us + static_cast<double>(change.dns_us)));
    }
    return look_ups;
  }
  PredictedProtocol protocol() const { return change.protocol.value_or(parts.protocol); }
  /// Browsers take early hints over HTTP/2 only.
  bool takes_hints() const { return protocol() == PredictedProtocol::kH2; }
  /// Over another protocol there are no others that are written at the same moment.
  double send_us() const { return protocol() == parts.protocol ? parts.send_us : 0; }
  /// A window that was too small, or something lost, belongs to that connection.
  double stall_us() const { return protocol() == parts.protocol ? parts.stall_us : 0; }
  double think_us() const {
    auto const think = parts.think_us * change.think_factor + static_cast<double>(change.think_us);
    return std::max(think, 0.0);
  }
  /// What came from the cache takes as long as it did.
  bool is_at_hand() const { return change.at_hand || (change.cached && !parts.is_local); }
  std::optional<int> known_urgency() const {
    if (change.urgency) return change.urgency;
    return change.loading ? kUrgencyLow : parts.urgency;
  }
  int urgency() const { return known_urgency().value_or(kUrgencyMedium); }
  double bytes() const {
    if (parts.is_revalidated) return parts.bytes;
    return std::clamp(parts.bytes * change.bytes_factor + change.bytes_added, 0.0, kBytesMax);
  }
  /// Without the link's rate, the tail is the whole transfer.
  double tail_us(bool is_rate_known) const {
    if (is_rate_known || parts.is_revalidated) return parts.tail_us;
    return parts.tail_us * (parts.bytes > 0 ? bytes() / parts.bytes : change.bytes_factor);
  }
  double task_us() const {
    return std::max(0.0, parts.task_us + parts.task_busy_us * (change.cpu_factor - 1));
  }
};

/// Of all nodes.
inline double all_bytes(const LoadParts& parts, std::span<const NodeChange> changes) {
  double sum = 0;
  for (std::size_t node = 0; node < parts.nodes.size(); ++node) {
    sum += ChangedNode{parts.nodes[node], changes[node]}.bytes();
  }
  return sum;
}

/// Of the link. Slower than a byte a second is as good as that: times stay finite.
inline double changed_rate(const LoadParts& parts, double link_factor) {
  return parts.bytes_per_us > 0 ? std::max(parts.bytes_per_us * link_factor, 1e-6) : 0;
}

/// A piece of the main thread's work, under the change of the node that it follows.
struct ChangedWork {
  const ThreadWork& parts;
  const NodeChange& change;

  double gap_us() const { return longer(parts.gap_us, parts.busy_us); }
  double length_us() const { return longer(parts.length_us, parts.processor_us); }

 private:
  double longer(double length_us, double processor_us) const {
    return std::max(0.0, length_us + processor_us * (change.cpu_factor - 1));
  }
};

}  // namespace reprise
