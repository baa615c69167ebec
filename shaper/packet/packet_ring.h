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

/// A frame in the ring. Valid until PacketRing::pop().
struct ReceivedFrame {
  std::span<const std::byte> bytes;  ///< including the Ethernet header
  OffloadHeader offload;
  std::chrono::nanoseconds arrived;  ///< by CLOCK_REALTIME
  bool whole = true;                 ///< false: longer than a slot, and cut off
};

/// One network device, as an AF_PACKET socket: frames arrive through memory shared with the kernel
/// (PACKET_RX_RING, TPACKET_V2), each with its time of arrival, and are written one by one. Why not
/// recv(2): reading a ring costs no system call, and an ordinary user's socket buffer
/// (net.core.rmem_max) holds only a few super-packets. Not thread-safe, except drops(). Source:
/// packet(7), Documentation/networking/packet_mmap.rst.
class PacketRing {
 public:
  /// `socket` is an unbound AF_PACKET socket, `device` an interface index in its namespace. Earlier
  /// frames of the device are not seen. Errors: setsockopt(2)'s, mmap(2)'s, bind(2)'s.
  static ShellResult<PacketRing> open(Descriptor socket, int device);
  PacketRing(PacketRing&& other) noexcept;
  PacketRing& operator=(PacketRing&&) = delete;
  ~PacketRing();

  /// The oldest frame that has arrived. No system call.
  std::optional<ReceivedFrame> front() const;
  /// Returns its slot to the kernel.
  void pop();

  /// Sends one frame, in parts, to the other end of the device. Errors: sendmsg(2)'s.
  std::error_code send(const OffloadHeader& offload, std::span<const std::byte> headers,
                       std::span<const std::byte> payload) const;

  /// The number of frames, since the last call, for which the ring had no room.
  std::uint64_t take_drops() const;
  /// Readable when front() has a frame.
  int fd() const { return socket_.get(); }

 private:
  PacketRing(Descriptor socket, std::byte* map) : socket_(std::move(socket)), map_(map) {}
  std::byte* slot() const;

  Descriptor socket_;
  std::byte* map_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace reprise
