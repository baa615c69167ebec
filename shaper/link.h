#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "shaper/codel.h"
#include "shaper/loss.h"
#include "shaper/pie.h"
#include "shaper/queue.h"
#include "shaper/random.h"
#include "shaper/ring.h"
#include "shaper/settings.h"
#include "shaper/wire.h"

namespace reprise {

/// One IP packet. Super-packets (GSO) are enqueued segment by segment.
struct Packet {
  std::uint64_t handle = 0;      ///< chosen by the caller; the link only returns it
  std::uint32_t size_bytes = 0;  ///< of the IP packet, 1 to kPacketBytesMax
};

/// The result of a packet's arrival. All except `queued` are final.
enum class Admission : std::uint8_t {
  queued,      ///< take_due() will return it, delivered or dropped
  lost,        ///< by the loss model
  queue_full,  ///< the queue has no room
  aqm_drop,    ///< by PIE
  outage,      ///< the link is off
};

enum class PacketFate : std::uint8_t {
  delivered,
  dropped,  ///< by CoDel, as it left the queue
};

/// The end of a queued packet.
struct Departure {
  std::uint64_t handle = 0;
  std::chrono::nanoseconds left{0};  ///< when it left the wire; of a dropped packet, the queue
  std::chrono::nanoseconds due{0};   ///< when it arrives at the other end, or was dropped
  PacketFate outcome = PacketFate::delivered;
};

/// As of the last call with a time: packets_in = packets_out + lost + outage_drops + queue_drops +
/// aqm_drops + queued_packets + in_flight.
struct LinkCounters {
  std::uint64_t packets_in = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t packets_out = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t lost = 0;
  std::uint64_t outage_drops = 0;
  std::uint64_t queue_drops = 0;
  std::uint64_t aqm_drops = 0;
  std::uint64_t queued_packets = 0;  ///< waiting for serialisation
  std::uint64_t queued_bytes = 0;
  std::uint64_t in_flight = 0;  ///< being serialised or in propagation
};

/// One direction of an emulated link, as a function of time: loss, then the queue, then
/// serialisation at the rate, then propagation. Ethernet framing is not counted, so the goodput of
/// a long TCP download with timestamps is rate x 1448/1500.
///
/// Times are nanoseconds since any epoch of the caller; results never depend on how often or how
/// late the caller calls. Not thread-safe. Allocates no memory once its queues have reached their
/// maximum length.
class Link {
 public:
  /// `start`: the begin of traces and outages. Links with the same seed and different `stream` (the
  /// two directions) are independent of each other. Aborts if defect_of(settings).
  Link(LinkSettings settings, std::uint64_t seed, std::uint64_t stream,
       std::chrono::nanoseconds start);

  /// Adds a packet that arrived at `now`; call in order of arrival. `now` may be before the time of
  /// an earlier call (a kernel's arrival stamp): the packet then starts as early as the wire was
  /// free.
  Admission enqueue(Packet packet, std::chrono::nanoseconds now);

  /// When to call take_due next; it may return nothing then. Empty while the link is empty.
  std::optional<std::chrono::nanoseconds> next_event() const;

  /// Appends the ends of packets due by `now`: drops first, then deliveries by due time.
  void take_due(std::chrono::nanoseconds now, std::vector<Departure>& out);

  /// Changes the link from `at` on (call in order of `at`; a past time counts as the latest time
  /// seen). A packet on the wire continues at the new rate, propagating packets are not affected,
  /// waiting ones stay even beyond the new limit. Aborts if defect_of(settings).
  void change(LinkSettings settings, std::chrono::nanoseconds at);

  LinkCounters counters() const;
  const LinkSettings& settings() const { return settings_; }

 private:
  /// A packet that has left the queue.
  struct Flight {
    std::chrono::nanoseconds left{0};  // the wire
    std::chrono::nanoseconds due{0};
    std::uint64_t handle = 0;
    std::uint64_t index = 0;
    std::uint32_t size_bytes = 0;

    /// Order for a heap whose front is the earliest; equal times keep the order of arrival.
    bool operator<(const Flight& other) const {
      return due != other.due ? due > other.due : index > other.index;
    }
  };
  struct Change {
    std::chrono::nanoseconds at;
    LinkSettings settings;
  };

  void run(std::chrono::nanoseconds until);
  std::chrono::nanoseconds next_control() const;
  void control(std::chrono::nanoseconds at);
  void use_discipline(std::chrono::nanoseconds now);
  bool is_full(std::uint32_t size_bytes) const;
  bool holds_most() const;
  void start_next(std::chrono::nanoseconds at);
  void finish_current();
  std::chrono::nanoseconds due_of_current() const;

  LinkSettings settings_;
  RandomStream jitter_random_;
  RandomStream queue_random_;
  LossProcess loss_;
  Wire wire_;
  std::optional<Codel> codel_;
  std::optional<Pie> pie_;
  std::vector<Change> changes_;    // future, by time
  std::chrono::nanoseconds seen_;  // the latest time given to run()
  std::uint64_t next_index_ = 0;

  WaitingQueue queue_;
  bool busy_ = false;  // current_ is on the wire until departs_
  Waiting current_;
  std::chrono::nanoseconds departs_{0};
  Ring<Flight> in_order_;           // in propagation
  std::vector<Flight> overtaking_;  // in propagation, too: a heap
  std::chrono::nanoseconds last_due_;
  std::vector<Waiting> dropped_;       // by CoDel, within one call
  std::vector<Departure> told_later_;  // by CoDel, until take_due
  LinkCounters counters_;
};

}  // namespace reprise
