#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/system/descriptor.h"
#include "shaper/packet/network/shell_error.h"
#include "shaper/packet/segments.h"

namespace reprise {

/// A frame that the kernel has put into a ring. Valid until PacketRing::pop().
struct ReceivedFrame {
  std::span<const std::byte> bytes;  ///< from the Ethernet header on
  OffloadHeader offload;
  std::chrono::nanoseconds arrived;  ///< by CLOCK_REALTIME
  bool whole = true;                 ///< false: longer than a slot, cut off
};

/// One network device, as an AF_PACKET socket: frames come in through memory shared with the kernel
/// (PACKET_RX_RING, TPACKET_V2), each with its time of arrival, and are written one at a time.
/// A ring and not recv(2): reading costs no system call, and an ordinary user's socket buffer
/// (net.core.rmem_max) holds only a handful of super-packets. Not thread-safe, except drops().
/// Source: packet(7), Documentation/networking/packet_mmap.rst.
class PacketRing {
 public:
  /// `socket` is an unbound AF_PACKET socket, `device` an interface index in its namespace. What
  /// arrived on the device before is not seen. Errors: setsockopt(2)'s, mmap(2)'s, bind(2)'s.
  static ShellResult<PacketRing> open(Descriptor socket, int device);
  PacketRing(PacketRing&& other) noexcept;
  PacketRing& operator=(PacketRing&&) = delete;
  ~PacketRing();

  /// The oldest frame that has come. No system call.
  std::optional<ReceivedFrame> front() const;
  /// Gives its place back to the kernel.
  void pop();

  /// Sends one frame, in parts, to the other end of the device. Errors: sendmsg(2)'s.
  std::error_code send(const OffloadHeader& offload, std::span<const std::byte> headers,
                       std::span<const std::byte> payload) const;

  /// How many frames the ring had no room for since the last call.
  std::uint64_t take_drops() const;
  /// Readable when front() has something.
  int fd() const { return socket_.get(); }

 private:
  PacketRing(Descriptor socket, std::byte* map) : socket_(std::move(socket)), map_(map) {}
  std::byte* slot() const;

  Descriptor socket_;
  std::byte* map_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace reprise
