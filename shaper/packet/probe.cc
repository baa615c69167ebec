#include "shaper/packet/probe.h"

#include <sys/socket.h>

#include <array>
#include <cstring>

#include "shaper/packet/link_clock.h"
#include "shaper/packet/network/topology.h"

namespace reprise {
namespace {

constexpr std::uint32_t kHeaderBytes = 20 + 8;
constexpr int kReceiveBufferBytes = 1 << 20;

struct Content {
  std::int64_t sent_ns;
  std::uint32_t index;
};
static_assert(kHeaderBytes + sizeof(Content) <= Probe::kPacketBytesMin);

}  // namespace

Probe::Probe(int from, int to) : from_(from), to_(to) {
  int const on = 1;
  ::setsockopt(to, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  ::setsockopt(to, SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof kReceiveBufferBytes);
}

void Probe::send(std::uint32_t packet_bytes) {
  std::array<std::byte, kLinkMtuBytes> bytes{};
  Content const content{.sent_ns = read_clock(CLOCK_REALTIME).count(), .index = sent_};
  std::memcpy(bytes.data(), &content, sizeof content);
  if (::send(from_, bytes.data(), packet_bytes - kHeaderBytes, 0) > 0) ++sent_;
}

void Probe::receive() {
  while (true) {
    std::array<std::byte, kLinkMtuBytes> bytes;
    iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
    alignas(cmsghdr) std::array<char, 256> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    auto const size = ::recvmsg(to_, &message, MSG_DONTWAIT);
    if (size < 0) return;
    Content content;
    if (static_cast<std::size_t>(size) < sizeof content) continue;
    std::memcpy(&content, bytes.data(), sizeof content);
    Arrival arrival{.index = content.index,
                    .packet_bytes = static_cast<std::uint32_t>(size) + kHeaderBytes,
                    .sent = std::chrono::nanoseconds(content.sent_ns),
                    .received = read_clock(CLOCK_REALTIME)};
    for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
      if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SO_TIMESTAMPNS) continue;
      timespec stamp{};
      std::memcpy(&stamp, CMSG_DATA(one), sizeof stamp);
      arrival.received =
          std::chrono::seconds(stamp.tv_sec) + std::chrono::nanoseconds(stamp.tv_nsec);
    }
    arrivals_.push_back(arrival);
  }
}

}  // namespace reprise
