#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "shaper/packet/segments.h"

namespace reprise {

/// Servers beyond the far end of the link: their packets wait for the server's additional distance,
/// then enter the link. The whole addition to the round trip is on the way from the server; a
/// client cannot distinguish that from two halves. Order is kept per address. Not thread-safe.
class FarServers {
 public:
  /// Beyond this, frames pass on at once.
  static constexpr std::uint64_t kHeldBytesMax = std::uint64_t{256} << 20;
  /// A server's addition to the round trip, by its IPv4 address in host byte order.
  using Delays = std::unordered_map<std::uint32_t, std::chrono::nanoseconds>;

  struct Frame {
    std::chrono::nanoseconds due{0};
    std::uint64_t serial = 0;
    OffloadHeader offload;
    std::vector<std::byte> bytes;

    /// For a heap whose top is the earliest.
    bool operator<(const Frame& other) const {
      return due != other.due ? due > other.due : serial > other.serial;
    }
  };

  explicit FarServers(Delays delays) : delays_(std::move(delays)) {}

  /// The addition for the sender of this Ethernet frame; 0 unless it is IPv4 and in the map.
  std::chrono::nanoseconds delay_of(std::span<const std::byte> frame) const;
  /// Keeps a copy until `due`. Returns false and keeps nothing beyond kHeldBytesMax.
  bool hold(std::span<const std::byte> frame, const OffloadHeader& offload,
            std::chrono::nanoseconds due);

  std::optional<std::chrono::nanoseconds> next_due() const;
  /// The earliest frame that is due by `now`, if any.
  std::optional<Frame> take(std::chrono::nanoseconds now);

 private:
  Delays delays_;
  std::priority_queue<Frame> held_;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t next_serial_ = 0;
};

}  // namespace reprise
