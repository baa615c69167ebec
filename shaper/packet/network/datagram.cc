#include "shaper/packet/network/datagram.h"

#include <netinet/in.h>

#include <cstring>

namespace reprise {
namespace {

cmsghdr* find(msghdr& message, int level, int type) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level == level && one->cmsg_type == type) return one;
  }
  return nullptr;
}

}  // namespace

void Datagram::prepare(int socket) {
  // Each call fails on a socket of the other family, which does not need it.
  int const on = 1;
  ::setsockopt(socket, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
}

std::optional<Datagram> Datagram::receive(int socket) {
  std::array<std::byte, kBytesMax> buffer;
  Datagram got;
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  msghdr message{};
  message.msg_name = &got.peer_;
  message.msg_namelen = sizeof got.peer_;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = got.control_.data();
  message.msg_controllen = got.control_.size();
  auto const size = ::recvmsg(socket, &message, MSG_DONTWAIT);
  if (size < 0) return std::nullopt;
  got.bytes_.assign(buffer.begin(), buffer.begin() + size);
  got.peer_size_ = message.msg_namelen;
  got.control_size_ = message.msg_controllen;
  // Leave the interface to the routing table; keep the address.
  if (cmsghdr* const told = find(message, IPPROTO_IP, IP_PKTINFO)) {
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(told), sizeof info);
    info.ipi_spec_dst = info.ipi_addr;
    info.ipi_ifindex = 0;
    std::memcpy(CMSG_DATA(told), &info, sizeof info);
  }
  return got;
}

std::optional<boost::asio::ip::address_v4> Datagram::destination() const {
  auto control = control_;
  msghdr message{};
  message.msg_control = control.data();
  message.msg_controllen = control_size_;
  cmsghdr* const told = find(message, IPPROTO_IP, IP_PKTINFO);
  if (told == nullptr) return std::nullopt;
  in_pktinfo info{};
  std::memcpy(&info, CMSG_DATA(told), sizeof info);
  return boost::asio::ip::address_v4(ntohl(info.ipi_addr.s_addr));
}

void Datagram::answer(int socket, std::span<const std::byte> bytes) const {
  auto control = control_;
  auto peer = peer_;
  iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_name = &peer;
  message.msg_namelen = peer_size_;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control_size_ > 0 ? control.data() : nullptr;
  message.msg_controllen = control_size_;
  static_cast<void>(::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace reprise
