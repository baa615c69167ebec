#include "proxy/quic/quic_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "base/system/last_error.h"

namespace reprise {
namespace {

constexpr std::size_t kMessages = 8;
constexpr std::size_t kMessageBytes = 64 << 10;  // a received datagram, or many joined by GRO
constexpr std::size_t kControlBytes = 128;
/// Of the kernel, so that a burst of clients is not lost while this thread is busy.
constexpr int kSocketBytes = 4 << 20;
constexpr unsigned kEcnBits = 3;

using Endpoint = QuicSocket::Endpoint;

template <class T>
T value_in(const cmsghdr& control) {
  T value{};
  std::memcpy(&value, CMSG_DATA(&control), sizeof value);
  return value;
}

template <class T>
void append(msghdr& message, std::span<std::byte> space, int level, int type, const T& value) {
  auto* const control = reinterpret_cast<cmsghdr*>(space.data() + message.msg_controllen);
  control->cmsg_level = level;
  control->cmsg_type = type;
  control->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(control), &value, sizeof value);
  message.msg_controllen += CMSG_SPACE(sizeof value);
}

bool is_full(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
}

}  // namespace

struct QuicSocket::Buffers {
  std::array<mmsghdr, kMessages> messages{};
  std::array<iovec, kMessages> places{};
  std::array<Endpoint, kMessages> clients;
  alignas(cmsghdr) std::array<std::array<std::byte, kControlBytes>, kMessages> controls{};
  std::vector<std::byte> bytes = std::vector<std::byte>(kMessages * kMessageBytes);
};

QuicSocket::QuicSocket(Descriptor socket)
    : socket_(std::move(socket)), buffers_(std::make_unique<Buffers>()) {}
QuicSocket::~QuicSocket() = default;
QuicSocket::QuicSocket(QuicSocket&&) noexcept = default;
QuicSocket& QuicSocket::operator=(QuicSocket&&) noexcept = default;

Result<QuicSocket> QuicSocket::bind(const Endpoint& at, bool shared, const char* device) {
  Descriptor handle(::socket(at.protocol().family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!handle.is_open()) return fail(last_system_error());
  int const on = 1;
  if (at.address().is_v6()) ::setsockopt(handle.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (shared) ::setsockopt(handle.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  auto where = at;
  if (device != nullptr) {
    if (::setsockopt(handle.get(), SOL_SOCKET, SO_BINDTODEVICE, device,
                     static_cast<socklen_t>(std::strlen(device))) != 0) {
      return fail(last_system_error());
    }
    where.address(boost::asio::ip::address_v4::any());
  }
  if (::bind(handle.get(), where.data(), static_cast<socklen_t>(where.size())) != 0) {
    return fail(last_system_error());
  }
  // Now its siblings may bind: a port in use was refused.
  if (!shared) ::setsockopt(handle.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  return adopt(std::move(handle));
}

Result<QuicSocket> QuicSocket::adopt(Descriptor socket) {
  QuicSocket made(std::move(socket));
  if (auto const ready = made.prepare(); !ready) return fail(ready.error());
  return made;
}

Result<void> QuicSocket::prepare() {
  auto length = static_cast<socklen_t>(bound_.capacity());
  if (::getsockname(descriptor(), bound_.data(), &length) != 0) return fail(last_system_error());
  bound_.resize(length);
  int const on = 1;
  bool const v6 = bound_.address().is_v6();
  int const probe = v6 ? IPV6_PMTUDISC_PROBE : IP_PMTUDISC_PROBE;
  int const level = v6 ? IPPROTO_IPV6 : IPPROTO_IP;
  auto const set = [&](int option, int value) {
    return ::setsockopt(descriptor(), level, option, &value, sizeof value) == 0;
  };
  // Packets are never fragmented: ngtcp2 searches the path's MTU.
  if (::fcntl(descriptor(), F_SETFL, O_NONBLOCK) != 0 ||
      !set(v6 ? IPV6_RECVPKTINFO : IP_PKTINFO, on) || !set(v6 ? IPV6_RECVTCLASS : IP_RECVTOS, on) ||
      !set(v6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER, probe)) {
    return fail(last_system_error());
  }
  // These only make it faster.
  ::setsockopt(descriptor(), IPPROTO_UDP, UDP_GRO, &on, sizeof on);
  ::setsockopt(descriptor(), SOL_SOCKET, SO_RCVBUF, &kSocketBytes, sizeof kSocketBytes);
  ::setsockopt(descriptor(), SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
  return {};
}

Result<std::span<const QuicSocket::Datagram>> QuicSocket::receive() {
  received_.clear();
  auto& [messages, places, clients, controls, bytes] = *buffers_;
  for (std::size_t i = 0; i < kMessages; ++i) {
    places[i] = {.iov_base = bytes.data() + i * kMessageBytes, .iov_len = kMessageBytes};
    messages[i].msg_hdr = {.msg_name = clients[i].data(),
                           .msg_namelen = static_cast<socklen_t>(clients[i].capacity()),
                           .msg_iov = &places[i],
                           .msg_iovlen = 1,
                           .msg_control = controls[i].data(),
                           .msg_controllen = kControlBytes,
                           .msg_flags = 0};
  }
  int const count = ::recvmmsg(descriptor(), messages.data(), kMessages, MSG_DONTWAIT, nullptr);
  may_have_more_ = count == static_cast<int>(kMessages);
  if (count < 0) {
    // A refusal by ICMP of what was sent earlier says nothing about this socket.
    if (is_full(errno) || errno == EINTR || errno == ECONNREFUSED) {
      return std::span<const Datagram>();
    }
    return fail(last_system_error());
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    auto& head = messages[i].msg_hdr;
    Datagram datagram{.local = bound_};
    std::size_t segment_bytes = messages[i].msg_len;
    for (auto* each = CMSG_FIRSTHDR(&head); each != nullptr; each = CMSG_NXTHDR(&head, each)) {
      if (each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_PKTINFO) {
        auto const info = value_in<in_pktinfo>(*each);
        datagram.local.address(boost::asio::ip::address_v4(ntohl(info.ipi_addr.s_addr)));
      } else if (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_PKTINFO) {
        auto const info = value_in<in6_pktinfo>(*each);
        boost::asio::ip::address_v6::bytes_type octets;
        std::memcpy(octets.data(), &info.ipi6_addr, octets.size());
        datagram.local.address(boost::asio::ip::address_v6(octets));
      } else if (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_TCLASS) {
        datagram.ecn = static_cast<std::uint32_t>(value_in<int>(*each)) & kEcnBits;
      } else if (each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_TOS) {
        datagram.ecn = value_in<std::uint8_t>(*each) & kEcnBits;
      } else if (each->cmsg_level == IPPROTO_UDP && each->cmsg_type == UDP_GRO) {
        segment_bytes = static_cast<std::size_t>(value_in<int>(*each));
      }
    }
    clients[i].resize(head.msg_namelen);
    datagram.client = clients[i];
    Bytes rest(bytes.data() + i * kMessageBytes, messages[i].msg_len);
    while (!rest.empty() && segment_bytes > 0) {
      datagram.bytes = rest.first(std::min(segment_bytes, rest.size()));
      rest = rest.subspan(datagram.bytes.size());
      received_.push_back(datagram);
    }
  }
  return std::span<const Datagram>(received_);
}

bool QuicSocket::send_once(Bytes packets, std::size_t segment_bytes, std::uint32_t ecn,
                           const Endpoint& local, const Endpoint& client) {
  alignas(cmsghdr) std::array<std::byte, kControlBytes> space{};
  iovec place{.iov_base = const_cast<std::byte*>(packets.data()), .iov_len = packets.size()};
  msghdr message{.msg_name = const_cast<sockaddr*>(client.data()),
                 .msg_namelen = static_cast<socklen_t>(client.size()),
                 .msg_iov = &place,
                 .msg_iovlen = 1,
                 .msg_control = space.data(),
                 .msg_controllen = 0,
                 .msg_flags = 0};
  if (local.address().is_v6()) {
    in6_pktinfo from{};
    auto const octets = local.address().to_v6().to_bytes();
    std::memcpy(&from.ipi6_addr, octets.data(), octets.size());
    append(message, space, IPPROTO_IPV6, IPV6_PKTINFO, from);
    append(message, space, IPPROTO_IPV6, IPV6_TCLASS, static_cast<int>(ecn));
  } else {
    in_pktinfo from{};
    from.ipi_spec_dst.s_addr = htonl(local.address().to_v4().to_uint());
    append(message, space, IPPROTO_IP, IP_PKTINFO, from);
    append(message, space, IPPROTO_IP, IP_TOS, static_cast<int>(ecn));
  }
  if (segment_bytes < packets.size()) {
    append(message, space, IPPROTO_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(segment_bytes));
  }
  while (::sendmsg(descriptor(), &message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

bool QuicSocket::send(Bytes packets, const QuicBurst& burst, const Endpoint& local,
                      const Endpoint& client) {
  bool const several = burst.segment_bytes < packets.size();
  bool refused_together = false;
  if (segments_ || !several) {
    if (send_once(packets, burst.segment_bytes, burst.ecn, local, client)) return true;
    if (is_full(errno)) return false;
    // Either the device cannot segment, as one without checksums (EIO, EINVAL), or the packets are
    // longer than its MTU (EINVAL, on later kernels EMSGSIZE). Sent one by one, they show which.
    if (!several || (errno != EIO && errno != EINVAL && errno != EMSGSIZE)) return true;
    refused_together = true;
  }
  bool all_sent = true;
  while (!packets.empty()) {
    auto const packet = packets.first(std::min(burst.segment_bytes, packets.size()));
    // What does not fit any more is lost: the peer's acknowledgements tell.
    if (!send_once(packet, packet.size(), burst.ecn, local, client)) {
      all_sent = false;
      if (is_full(errno)) break;
    }
    packets = packets.subspan(packet.size());
  }
  if (refused_together && all_sent) segments_ = false;
  return true;
}

}  // namespace reprise
