#include "shaper/packet/segments.h"

#include <cstdlib>
#include <cstring>

namespace reprise {
namespace {

constexpr std::size_t kIpAt = kEthernetBytes;
constexpr std::size_t kIpBytesMin = 20;
constexpr std::size_t kTcpBytesMin = 20;
constexpr std::size_t kUdpBytes = 8;
constexpr std::uint16_t kEtherTypeIp4 = 0x0800;
constexpr std::uint8_t kProtocolTcp = 6;
constexpr std::uint8_t kProtocolUdp = 17;

// Offsets in an IPv4 header (RFC 791), a TCP header (RFC 9293) and a UDP header (RFC 768).
constexpr std::size_t kIpTotalLength = 2;
constexpr std::size_t kIpIdentification = 4;
constexpr std::size_t kIpFragment = 6;
constexpr std::size_t kIpProtocol = 9;
constexpr std::size_t kIpChecksum = 10;
constexpr std::size_t kIpSource = 12;
constexpr std::size_t kTcpSequence = 4;
constexpr std::size_t kTcpDataOffset = 12;
constexpr std::size_t kTcpFlags = 13;
constexpr std::size_t kTcpChecksum = 16;
constexpr std::size_t kUdpLength = 4;
constexpr std::size_t kUdpChecksum = 6;

constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kPsh = 0x08;
constexpr std::uint8_t kCwr = 0x80;

std::uint8_t get8(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

std::uint16_t get16(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint16_t>(get8(bytes, at) << 8 | get8(bytes, at + 1));
}

void put16(std::span<std::byte> bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value & 0xFF);
}

std::uint32_t get32(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint32_t>(get16(bytes, at)) << 16 | get16(bytes, at + 2);
}

void put32(std::span<std::byte> bytes, std::size_t at, std::uint32_t value) {
  put16(bytes, at, static_cast<std::uint16_t>(value >> 16));
  put16(bytes, at + 2, static_cast<std::uint16_t>(value & 0xFFFF));
}

/// The one's complement sum of 16-bit words (RFC 1071), not yet complemented.
std::uint16_t sum_of(std::span<const std::byte> bytes, std::uint32_t start = 0) {
  std::uint32_t sum = start;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) sum += get16(bytes, at);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>((sum & 0xFFFF) + (sum >> 16));
}

/// The checksum field's value when the device has to sum the rest.
std::uint16_t pseudo_header_sum(std::span<const std::byte> ip, std::uint8_t protocol,
                                std::size_t transport_bytes) {
  return sum_of(ip.subspan(kIpSource, 8), protocol + static_cast<std::uint32_t>(transport_bytes));
}

/// The offload header and ours must agree on the place of the checksum.
bool checksum_fits(const OffloadHeader& offload, std::size_t transport_at, std::size_t field) {
  return (offload.flags & kOffloadChecksum) != 0 && offload.checksum_start == transport_at &&
         offload.checksum_offset == field;
}

std::optional<FrameShape> shape_of_super_packet(std::span<const std::byte> frame,
                                                const OffloadHeader& offload) {
  auto const type = offload.gso_type & static_cast<std::uint8_t>(~kOffloadEcn);
  bool const tcp = type == kOffloadTcp4;
  if ((!tcp && type != kOffloadUdp) || offload.segment_bytes == 0) return std::nullopt;
  if (frame.size() < kIpAt + kIpBytesMin || get16(frame, 12) != kEtherTypeIp4) return std::nullopt;
  auto const ip = frame.subspan(kIpAt);
  std::size_t const ip_bytes = (get8(ip, 0) & 0xFU) * 4;
  if (get8(ip, 0) >> 4 != 4 || ip_bytes < kIpBytesMin || get16(ip, kIpTotalLength) != ip.size() ||
      (get16(ip, kIpFragment) & 0x3FFF) != 0 ||
      get8(ip, kIpProtocol) != (tcp ? kProtocolTcp : kProtocolUdp)) {
    return std::nullopt;
  }
  std::size_t const transport_at = kIpAt + ip_bytes;
  if (frame.size() < transport_at + (tcp ? kTcpBytesMin : kUdpBytes)) return std::nullopt;
  if (!checksum_fits(offload, transport_at, tcp ? kTcpChecksum : kUdpChecksum)) {
    return std::nullopt;
  }
  std::size_t const transport_bytes =
      tcp ? (get8(frame, transport_at + kTcpDataOffset) >> 4) * 4U : kUdpBytes;
  if ((tcp && transport_bytes < kTcpBytesMin) || frame.size() <= transport_at + transport_bytes) {
    return std::nullopt;
  }
  auto const headers = transport_at + transport_bytes;
  auto const payload = static_cast<std::uint32_t>(frame.size() - headers);
  return FrameShape{.kind = tcp ? FrameShape::Kind::tcp : FrameShape::Kind::udp,
                    .transport_at = static_cast<std::uint16_t>(transport_at),
                    .headers_bytes = static_cast<std::uint16_t>(headers),
                    .payload_bytes = payload,
                    .segment_bytes = offload.segment_bytes,
                    .segments = (payload + offload.segment_bytes - 1) / offload.segment_bytes};
}

void patch_ip(std::span<std::byte> ip, std::size_t ip_bytes, std::uint32_t first,
              std::size_t packet_bytes) {
  put16(ip, kIpTotalLength, static_cast<std::uint16_t>(packet_bytes));
  put16(ip, kIpIdentification, static_cast<std::uint16_t>(get16(ip, kIpIdentification) + first));
  put16(ip, kIpChecksum, 0);
  put16(ip, kIpChecksum, static_cast<std::uint16_t>(~sum_of(ip.first(ip_bytes))));
}

/// Returns whether the segments have CWR.
bool patch_tcp(std::span<std::byte> tcp, std::size_t payload_before, bool has_first,
               bool has_last) {
  put32(tcp, kTcpSequence, get32(tcp, kTcpSequence) + static_cast<std::uint32_t>(payload_before));
  auto flags = get8(tcp, kTcpFlags);
  if (!has_last) flags &= static_cast<std::uint8_t>(~(kFin | kPsh));
  if (!has_first) flags &= static_cast<std::uint8_t>(~kCwr);
  tcp[kTcpFlags] = static_cast<std::byte>(flags);
  return (flags & kCwr) != 0;
}

}  // namespace

std::optional<FrameShape> shape_of(std::span<const std::byte> frame, const OffloadHeader& offload) {
  if (frame.size() <= kEthernetBytes || frame.size() > kFrameBytesMax) return std::nullopt;
  if (offload.gso_type != 0) return shape_of_super_packet(frame, offload);
  auto const payload = static_cast<std::uint32_t>(frame.size() - kEthernetBytes);
  return FrameShape{.headers_bytes = kEthernetBytes,
                    .payload_bytes = payload,
                    .segment_bytes = payload,
                    .segments = 1};
}

Cut cut_segments(std::span<const std::byte> frame, const OffloadHeader& offload,
                 const FrameShape& shape, std::uint32_t first, std::uint32_t count) {
  if (shape.kind == FrameShape::Kind::whole || count == 0 || first >= shape.segments ||
      count > shape.segments - first) {
    std::abort();
  }
  bool const tcp = shape.kind == FrameShape::Kind::tcp;
  bool const has_last = first + count == shape.segments;
  std::size_t const before = std::size_t{first} * shape.segment_bytes;
  std::size_t const payload =
      has_last ? shape.payload_bytes - before : std::size_t{count} * shape.segment_bytes;

  Cut cut;
  cut.headers_bytes = shape.headers_bytes;
  cut.payload_at = shape.headers_bytes + before;
  cut.payload_bytes = payload;
  std::memcpy(cut.headers.data(), frame.data(), shape.headers_bytes);
  std::span const headers(cut.headers.data(), cut.headers_bytes);
  auto const ip = headers.subspan(kIpAt);
  auto const transport = headers.subspan(shape.transport_at);
  patch_ip(ip, shape.transport_at - kIpAt, first, headers.size() - kIpAt + payload);
  bool has_cwr = false;
  if (tcp) {
    has_cwr = patch_tcp(transport, before, first == 0, has_last);
  } else {
    put16(transport, kUdpLength, static_cast<std::uint16_t>(transport.size() + payload));
  }
  put16(transport, tcp ? kTcpChecksum : kUdpChecksum,
        pseudo_header_sum(ip, tcp ? kProtocolTcp : kProtocolUdp, transport.size() + payload));

  cut.offload = offload;
  cut.offload.header_bytes = shape.headers_bytes;
  if (count == 1) {
    cut.offload.gso_type = 0;
    cut.offload.segment_bytes = 0;
  } else if (!has_cwr) {
    cut.offload.gso_type &= static_cast<std::uint8_t>(~kOffloadEcn);
  }
  return cut;
}

}  // namespace reprise
