#pragma once

#include <chrono>
#include <cstdint>

#include "shaper/ring.h"

namespace reprise {

/// A packet that waits for the wire.
struct Waiting {
  std::uint64_t handle = 0;
  std::chrono::nanoseconds arrived{0};
  std::uint64_t index = 0;
  std::uint32_t size_bytes = 0;
};

/// The packets that wait for the wire, first in first out.
class WaitingQueue {
 public:
  bool empty() const { return packets_.empty(); }
  std::size_t packets() const { return packets_.size(); }
  std::uint64_t bytes() const { return bytes_; }

  void push(const Waiting& packet) {
    packets_.push_back(packet);
    bytes_ += packet.size_bytes;
  }

  /// Precondition: not empty.
  Waiting pop() {
    Waiting const packet = packets_.front();
    packets_.pop_front();
    bytes_ -= packet.size_bytes;
    return packet;
  }

 private:
  Ring<Waiting> packets_;
  std::uint64_t bytes_ = 0;
};

}  // namespace reprise
