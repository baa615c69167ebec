#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shaper/packet/segments.h"

namespace reprise {

/// The frames of one direction that are on the link. A frame is held until all its segments are
/// gone. Buffers are reused. Not thread-safe.
class HeldPackets {
 public:
  struct Held {
    std::chrono::nanoseconds arrived{0};
    std::uint64_t first_index = 0;  ///< of its first segment among the packets of its direction
    FrameShape shape;
    OffloadHeader offload;
    std::uint32_t left = 0;  ///< segments still on the link
    std::unique_ptr<std::byte[]> buffer;
    std::uint32_t size_bytes = 0;

    std::span<const std::byte> frame() const { return {buffer.get(), size_bytes}; }
  };

  /// The link's handle of segment `index` of frame `serial`.
  static constexpr std::uint64_t handle_of(std::uint64_t serial, std::uint32_t index) {
    return serial << kSegmentBits | index;
  }
  static constexpr std::uint64_t serial_of(std::uint64_t handle) { return handle >> kSegmentBits; }
  static constexpr std::uint32_t index_of(std::uint64_t handle) {
    return static_cast<std::uint32_t>(handle & ((1U << kSegmentBits) - 1));
  }

  /// The serial that add() will give to the next frame.
  std::uint64_t next_serial() const { return first_ + held_.size(); }
  /// Adds `held`, with at least one segment on the link, and copies `frame`.
  void add(Held held, std::span<const std::byte> frame);
  /// Precondition: `serial` is held.
  const Held& at(std::uint64_t serial) const { return held_[serial - first_]; }
  /// Subtracts `count` segments that have left the link.
  void release(std::uint64_t serial, std::uint32_t count);

  /// Of memory.
  std::uint64_t bytes() const { return bytes_; }
  /// Number of frames, including those that wait for an older one to leave.
  std::uint64_t packets() const { return held_.size(); }

 private:
  // 65535 bytes of payload in segments of one byte.
  static constexpr unsigned kSegmentBits = 16;
  static constexpr std::size_t kSizeClasses = 18;
  static constexpr std::size_t kSpareMax = 256;  // of each size

  static std::size_t size_class(std::size_t bytes);
  static std::size_t memory(std::size_t bytes);

  std::deque<Held> held_;
  std::uint64_t first_ = 0;  // the serial of held_.front()
  std::uint64_t bytes_ = 0;
  std::array<std::vector<std::unique_ptr<std::byte[]>>, kSizeClasses> spare_;
};

}  // namespace reprise
