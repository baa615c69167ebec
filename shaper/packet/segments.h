#pragma once

// A super-packet is a TCP or UDP packet larger than the MTU that represents several: its sender
// leaves the segmentation to the device (generic segmentation offload). The link charges, delays
// and drops each segment separately, but passes on those that are due together as one packet. This
// is the arithmetic for both, on bytes alone. Source: the segmentation of Linux
// (Documentation/networking/segmentation-offloads.rst), virtio 1.2 section 5.1.6 for the header
// before the frame.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace reprise {

/// struct virtio_net_hdr, which a packet socket with PACKET_VNET_HDR puts before every frame. In
/// host byte order.
struct OffloadHeader {
  std::uint8_t flags = 0;
  std::uint8_t gso_type = 0;
  std::uint16_t header_bytes = 0;
  std::uint16_t segment_bytes = 0;
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
static_assert(sizeof(OffloadHeader) == 10);

inline constexpr std::uint8_t kOffloadChecksum = 1;  ///< a flag: the checksum is not computed yet
inline constexpr std::uint8_t kOffloadTcp4 = 1;      ///< types
inline constexpr std::uint8_t kOffloadUdp = 5;
inline constexpr std::uint8_t kOffloadEcn = 0x80;  ///< added to a type: the first segment has CWR

inline constexpr std::size_t kEthernetBytes = 14;
/// Ethernet, IPv4 with options, TCP with options.
inline constexpr std::size_t kHeadersMax = kEthernetBytes + 60 + 60;
inline constexpr std::size_t kFrameBytesMax = kEthernetBytes + 65535;

/// How a frame splits into packets.
struct FrameShape {
  enum class Kind : std::uint8_t { whole, tcp, udp };
  Kind kind = Kind::whole;
  std::uint16_t transport_at = 0;   ///< offset of the TCP or UDP header; 0 when whole
  std::uint16_t headers_bytes = 0;  ///< Ethernet, IP and transport; only Ethernet when whole
  std::uint32_t payload_bytes = 0;  ///< after the headers
  std::uint32_t segment_bytes = 0;  ///< payload of each segment except the last
  std::uint32_t segments = 1;

  /// The size of segment `index` as an IP packet.
  std::uint32_t packet_bytes(std::uint32_t index) const {
    auto const before = index * segment_bytes;
    auto const payload = index + 1 == segments ? payload_bytes - before : segment_bytes;
    return headers_bytes - static_cast<std::uint32_t>(kEthernetBytes) + payload;
  }
};

/// Reads the shape of an Ethernet frame. Empty if the frame cannot be passed on: shorter than a
/// header or longer than kFrameBytesMax, an unknown kind of offload, inconsistent headers.
std::optional<FrameShape> shape_of(std::span<const std::byte> frame, const OffloadHeader& offload);

/// Consecutive segments of a super-packet as one packet: `headers`, then `payload` of the frame.
struct Cut {
  OffloadHeader offload;
  std::array<std::byte, kHeadersMax> headers;
  std::size_t headers_bytes = 0;
  std::size_t payload_at = 0;  ///< in the original frame
  std::size_t payload_bytes = 0;
};

/// Segments [first, first + count) of `frame`, whose shape is `shape` and not whole; count is at
/// least 1, and all segments exist.
Cut cut_segments(std::span<const std::byte> frame, const OffloadHeader& offload,
                 const FrameShape& shape, std::uint32_t first, std::uint32_t count);

}  // namespace reprise
