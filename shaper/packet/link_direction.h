#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "shaper/link.h"
#include "shaper/packet/far_servers.h"
#include "shaper/packet/held_packets.h"
#include "shaper/packet/lateness_chain.h"
#include "shaper/packet/link_clock.h"
#include "shaper/packet/link_log.h"
#include "shaper/packet/link_report.h"
#include "shaper/packet/link_series.h"
#include "shaper/packet/packet_ring.h"

namespace reprise {

/// One direction at work: takes frames from one device, has the link judge each packet in them, and
/// writes to the other device what is due. Not thread-safe.
class LinkDirection {
 public:
  /// More on the link at once is dropped and counted.
  static constexpr std::uint64_t kHeldBytesMax = std::uint64_t{512} << 20;

  /// The rings, the lateness, the log and the series (which may be null) outlive this. `far` are
  /// senders on this side whose packets reach the link later.
  LinkDirection(LinkSide side, Link link, PacketRing& from, PacketRing& to, FarServers far,
                LatenessHistogram& lateness, LatenessChain& chain, LinkLog* log, LinkSeries* series)
      : side_(side),
        link_(std::move(link)),
        from_(from),
        to_(to),
        far_(std::move(far)),
        lateness_(lateness),
        chain_(chain),
        log_(log),
        series_(series) {}

  /// Takes up to kBatch frames that have come. Whether there were any.
  bool take_in(StampClock& stamps);
  /// Writes what is due by `now`. Whether there was any.
  bool give_out(std::chrono::nanoseconds now);

  /// When to call give_out next. While packets queue for a link so fast that several fall due
  /// within kCoalesce, they go together: one by one they would cost more time than there is.
  std::optional<std::chrono::nanoseconds> next_event() const;
  LinkCounters counters() const { return link_.counters(); }
  const OutsideDrops& drops() const { return drops_; }

 private:
  static constexpr int kBatch = 32;
  static constexpr std::chrono::nanoseconds kCoalesce = std::chrono::microseconds(60);

  void take_far(std::chrono::nanoseconds now);
  void take(std::span<const std::byte> frame, const OffloadHeader& offload,
            std::chrono::nanoseconds arrived);
  std::size_t write_group(std::size_t first);
  std::error_code write(const HeldPackets::Held& held, std::uint32_t first, std::uint32_t count);
  bool is_told() const { return log_ != nullptr || series_ != nullptr; }
  void tell(const LinkLogEntry& entry);
  void tell_end(const HeldPackets::Held& held, const Departure& departure, LinkLogEntry::Fate fate,
                std::chrono::nanoseconds written);

  LinkSide side_;
  Link link_;
  PacketRing& from_;
  PacketRing& to_;
  FarServers far_;
  LatenessHistogram& lateness_;
  LatenessChain& chain_;
  LinkLog* log_;
  LinkSeries* series_;
  HeldPackets held_;
  std::vector<Departure> departures_;
  std::chrono::nanoseconds last_arrival_{0};   // at the device
  std::chrono::nanoseconds last_enqueued_{0};  // on the link, whose time does not go back
  std::uint64_t next_index_ = 0;
  OutsideDrops drops_;
};

}  // namespace reprise
