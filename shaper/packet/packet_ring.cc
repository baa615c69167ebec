#include "shaper/packet/packet_ring.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

namespace reprise {
namespace {

// A slot holds the largest frame after the kernel's headers. Blocks of 2 MiB hold 31.
constexpr std::size_t kSlotBytes = 65'792;
constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
constexpr std::size_t kSlotsPerBlock = kBlockBytes / kSlotBytes;
constexpr std::size_t kBlocks = 16;
constexpr std::size_t kSlots = kSlotsPerBlock * kBlocks;
static_assert(kSlotBytes % TPACKET_ALIGNMENT == 0);
static_assert(kSlotBytes >= TPACKET2_HDRLEN + 64 + sizeof(OffloadHeader) + kFrameBytesMax);

constexpr int kSendBufferBytes = 4 << 20;

template <class T>
bool set(const Descriptor& socket, int level, int option, const T& value) {
  return ::setsockopt(socket.get(), level, option, &value, sizeof value) == 0;
}

}  // namespace

ShellResult<PacketRing> PacketRing::open(Descriptor socket, int device) {
  int const version = TPACKET_V2;
  int const on = 1;
  tpacket_req const ring{.tp_block_size = kBlockBytes,
                         .tp_block_nr = kBlocks,
                         .tp_frame_size = kSlotBytes,
                         .tp_frame_nr = kSlots};
  auto const fix = "a kernel of 4.20 or later";
  if (!set(socket, SOL_PACKET, PACKET_VERSION, version) ||
      !set(socket, SOL_PACKET, PACKET_VNET_HDR, on) ||
      !set(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, on) ||
      !set(socket, SOL_PACKET, PACKET_QDISC_BYPASS, on)) {
    return shell_failure("a packet socket lacks an option", fix);
  }
  if (!set(socket, SOL_PACKET, PACKET_RX_RING, ring)) {
    return shell_failure("a ring of packets cannot be made", "64 MiB of free memory");
  }
  // Frames are stamped on arrival once any socket requests it, not just when they enter the ring.
  set(socket, SOL_SOCKET, SO_TIMESTAMPNS, on);
  set(socket, SOL_SOCKET, SO_SNDBUF, kSendBufferBytes);
  void* const map =
      ::mmap(nullptr, kBlockBytes * kBlocks, PROT_READ | PROT_WRITE, MAP_SHARED, socket.get(), 0);
  if (map == MAP_FAILED) return shell_failure("a ring of packets cannot be mapped");
  PacketRing opened(std::move(socket), static_cast<std::byte*>(map));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = device;
  if (::bind(opened.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return shell_failure("a packet socket cannot be bound to its device");
  }
  return opened;
}

PacketRing::PacketRing(PacketRing&& other) noexcept
    : socket_(std::move(other.socket_)),
      map_(std::exchange(other.map_, nullptr)),
      next_(other.next_) {}

PacketRing::~PacketRing() {
  if (map_ != nullptr) ::munmap(map_, kBlockBytes * kBlocks);
}

std::byte* PacketRing::slot() const {
  return map_ + next_ / kSlotsPerBlock * kBlockBytes + next_ % kSlotsPerBlock * kSlotBytes;
}

std::optional<ReceivedFrame> PacketRing::front() const {
  auto* const at = slot();
  auto& header = *reinterpret_cast<tpacket2_hdr*>(at);
  auto const status = std::atomic_ref(header.tp_status).load(std::memory_order_acquire);
  if ((status & TP_STATUS_USER) == 0) return std::nullopt;
  ReceivedFrame frame;
  frame.arrived = std::chrono::seconds(header.tp_sec) + std::chrono::nanoseconds(header.tp_nsec);
  // The kernel stays within its slot; this protects against a mistake here.
  std::size_t const start = std::clamp<std::size_t>(
      header.tp_mac, sizeof(tpacket2_hdr) + sizeof(OffloadHeader), kSlotBytes);
  std::size_t const size = std::min<std::size_t>(header.tp_snaplen, kSlotBytes - start);
  frame.whole = size == header.tp_len;
  frame.bytes = {at + start, size};
  std::memcpy(&frame.offload, at + start - sizeof frame.offload, sizeof frame.offload);
  return frame;
}

void PacketRing::pop() {
  auto& header = *reinterpret_cast<tpacket2_hdr*>(slot());
  std::atomic_ref(header.tp_status).store(TP_STATUS_KERNEL, std::memory_order_release);
  next_ = (next_ + 1) % kSlots;
}

std::error_code PacketRing::send(const OffloadHeader& offload, std::span<const std::byte> headers,
                                 std::span<const std::byte> payload) const {
  std::array<iovec, 3> parts{
      iovec{.iov_base = const_cast<OffloadHeader*>(&offload), .iov_len = sizeof offload},
      iovec{.iov_base = const_cast<std::byte*>(headers.data()), .iov_len = headers.size()},
      iovec{.iov_base = const_cast<std::byte*>(payload.data()), .iov_len = payload.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  while (::sendmsg(socket_.get(), &message, 0) < 0) {
    if (errno != EINTR) return {errno, std::system_category()};
  }
  return {};
}

std::uint64_t PacketRing::take_drops() const {
  tpacket_stats stats{};
  socklen_t size = sizeof stats;
  ::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &size);
  return stats.tp_drops;
}

}  // namespace reprise
