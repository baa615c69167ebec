#include "dns/udp_batch.h"

#include <algorithm>
#include <cstring>

namespace reprise::dns {
namespace {

/// Leaves the interface to the routing table; the address is kept.
void free_interface(msghdr& header) {
  for (auto* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
    if (at->cmsg_level != IPPROTO_IP || at->cmsg_type != IP_PKTINFO) continue;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(at), sizeof info);
    info.ipi_ifindex = 0;
    std::memcpy(CMSG_DATA(at), &info, sizeof info);
  }
}

}  // namespace

HeldAnswer::HeldAnswer(const msghdr& message) : peer_size_(message.msg_namelen) {
  auto const* const bytes = static_cast<const std::uint8_t*>(message.msg_iov->iov_base);
  bytes_.assign(bytes, bytes + message.msg_iov->iov_len);
  auto const* const control = static_cast<const char*>(message.msg_control);
  control_.assign(control, control + message.msg_controllen);
  std::memcpy(&peer_, message.msg_name, std::min<std::size_t>(peer_size_, sizeof peer_));
}

void HeldAnswer::send(int socket) {
  iovec piece{.iov_base = bytes_.data(), .iov_len = bytes_.size()};
  msghdr message{};
  message.msg_name = &peer_;
  message.msg_namelen = peer_size_;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control_.empty() ? nullptr : control_.data();
  message.msg_controllen = control_.size();
  ::sendmsg(socket, &message, MSG_DONTWAIT);
}

UdpBatch::UdpBatch() : slots_(kMessages) {}

void UdpBatch::prepare(int socket) {
  // Each call fails on a socket of the other family, which does not need it.
  int const on = 1;
  ::setsockopt(socket, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
}

std::size_t UdpBatch::serve(int socket, const Answer& answer, const Hold& hold) {
  for (std::size_t i = 0; i < kMessages; ++i) {
    Slot& slot = slots_[i];
    slot.piece = {.iov_base = slot.query.data(), .iov_len = slot.query.size()};
    headers_[i].msg_hdr = {.msg_name = &slot.peer,
                           .msg_namelen = sizeof slot.peer,
                           .msg_iov = &slot.piece,
                           .msg_iovlen = 1,
                           .msg_control = slot.control.data(),
                           .msg_controllen = slot.control.size()};
  }
  int const received = ::recvmmsg(socket, headers_.data(), kMessages, MSG_DONTWAIT, nullptr);
  if (received <= 0) return 0;
  std::size_t answers = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(received); ++i) {
    Slot& slot = slots_[i];
    auto const query = std::span(slot.query).first(headers_[i].msg_len);
    auto const [size, delay] = answer(query, slot.peer, slot.answer);
    if (size == 0) continue;
    slot.piece = {.iov_base = slot.answer.data(), .iov_len = size};
    free_interface(headers_[i].msg_hdr);
    if (headers_[i].msg_hdr.msg_controllen == 0) headers_[i].msg_hdr.msg_control = nullptr;
    if (delay > std::chrono::nanoseconds()) {
      hold(HeldAnswer(headers_[i].msg_hdr), delay);
      continue;
    }
    std::swap(headers_[answers++], headers_[i]);
  }
  for (std::size_t sent = 0; sent < answers;) {
    auto const left = static_cast<unsigned>(answers - sent);
    int const count = ::sendmmsg(socket, headers_.data() + sent, left, MSG_DONTWAIT);
    // A message that cannot be sent is skipped: the others are for other clients.
    sent += static_cast<std::size_t>(std::max(count, 1));
  }
  return static_cast<std::size_t>(received);
}

}  // namespace reprise::dns
