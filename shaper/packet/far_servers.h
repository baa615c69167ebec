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

/// Servers that are farther away than the far end of the link: what they send waits until their own
/// distance has passed, then goes onto the link. The whole of what an address adds to the round
/// trip lies on the way from it, where no client can tell it from two halves. Order is kept for
/// each address. Not thread-safe.
class FarServers {
 public:
  /// More is passed on at once.
  static constexpr std::uint64_t kHeldBytesMax = std::uint64_t{256} << 20;
  /// What a server adds to the round trip, by its IPv4 address in the machine's byte order.
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

  /// What the sender of this Ethernet frame adds; 0 unless it is IPv4 and one of them.
  std::chrono::nanoseconds delay_of(std::span<const std::byte> frame) const;
  /// Keeps a copy until `due`. False, and nothing is kept, beyond kHeldBytesMax.
  bool hold(std::span<const std::byte> frame, const OffloadHeader& offload,
            std::chrono::nanoseconds due);

  std::optional<std::chrono::nanoseconds> next_due() const;
  /// The earliest, which is due by `now`, if there is one.
  std::optional<Frame> take(std::chrono::nanoseconds now);

 private:
  Delays delays_;
  std::priority_queue<Frame> held_;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t next_serial_ = 0;
};

}  // namespace reprise
