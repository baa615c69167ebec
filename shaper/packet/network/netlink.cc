#include "shaper/packet/network/netlink.h"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace reprise {
namespace {

constexpr std::size_t kAnswerBytesMax = 32768;
constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};

std::error_code last_error() {
  return {errno, std::system_category()};
}

/// Calls `take(header, payload)` for each message of a datagram.
template <class Take>
void for_each_message(std::span<const std::byte> datagram, Take take) {
  while (datagram.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size()) return;
    take(header, datagram.subspan(NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN));
    datagram = datagram.subspan(
        std::min<std::size_t>(datagram.size(), NLMSG_ALIGN(std::size_t{header.nlmsg_len})));
  }
}

/// The value of attribute `type` among `attributes`; empty if it is missing.
std::span<const std::byte> find_attribute(std::span<const std::byte> attributes, int type) {
  while (attributes.size() >= sizeof(rtattr)) {
    rtattr attribute;
    std::memcpy(&attribute, attributes.data(), sizeof attribute);
    if (attribute.rta_len < sizeof attribute || attribute.rta_len > attributes.size()) break;
    if (attribute.rta_type == type) {
      return attributes.subspan(sizeof attribute, attribute.rta_len - sizeof attribute);
    }
    attributes = attributes.subspan(
        std::min<std::size_t>(attributes.size(), RTA_ALIGN(std::size_t{attribute.rta_len})));
  }
  return {};
}

}  // namespace

NetlinkMessage::NetlinkMessage(std::uint16_t type, std::uint16_t flags) {
  nlmsghdr const header{.nlmsg_len = 0,
                        .nlmsg_type = type,
                        .nlmsg_flags = static_cast<std::uint16_t>(flags | NLM_F_REQUEST),
                        .nlmsg_seq = 0,
                        .nlmsg_pid = 0};
  append(&header, sizeof header);
}

NetlinkMessage& NetlinkMessage::attribute(std::uint16_t type, std::span<const std::byte> value) {
  rtattr const header{.rta_len = static_cast<std::uint16_t>(sizeof(rtattr) + value.size()),
                      .rta_type = type};
  append(&header, sizeof header);
  append(value.data(), value.size());
  return *this;
}

NetlinkMessage& NetlinkMessage::text(std::uint16_t type, std::string_view value) {
  std::vector<std::byte> bytes(value.size() + 1);
  std::memcpy(bytes.data(), value.data(), value.size());
  return attribute(type, bytes);
}

std::size_t NetlinkMessage::open(std::uint16_t type) {
  auto const at = bytes_.size();
  attribute(type, {});
  return at;
}

void NetlinkMessage::close(std::size_t opened) {
  auto const length = static_cast<std::uint16_t>(bytes_.size() - opened);
  std::memcpy(bytes_.data() + opened + offsetof(rtattr, rta_len), &length, sizeof length);
}

void NetlinkMessage::set_sequence(std::uint32_t sequence) {
  std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_seq), &sequence, sizeof sequence);
}

bool NetlinkMessage::wants_answer() const {
  nlmsghdr header;
  std::memcpy(&header, bytes_.data(), sizeof header);
  return (header.nlmsg_flags & NLM_F_ACK) != 0;
}

void NetlinkMessage::append(const void* data, std::size_t size) {
  auto const at = bytes_.size();
  auto const aligned = NLMSG_ALIGN(at + size);
  if (aligned > kBytesMax) std::abort();
  bytes_.resize(aligned);
  if (size > 0) std::memcpy(bytes_.data() + at, data, size);
  auto const length = static_cast<std::uint32_t>(bytes_.size());
  std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
}

std::expected<NetlinkSocket, std::error_code> NetlinkSocket::open(int protocol) {
  Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!socket.is_open()) return std::unexpected(last_error());
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return std::unexpected(last_error());
  }
  return NetlinkSocket(std::move(socket));
}

std::expected<std::size_t, std::error_code> NetlinkSocket::receive(std::span<std::byte> buffer) {
  while (true) {
    auto const count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) return std::unexpected(std::make_error_code(std::errc::timed_out));
    if (errno != EINTR) return std::unexpected(last_error());
  }
}

std::expected<void, std::error_code> NetlinkSocket::request(std::span<NetlinkMessage> messages) {
  std::vector<std::byte> datagram;
  std::size_t awaited = 0;
  auto const first = sequence_ + 1;
  for (NetlinkMessage& message : messages) {
    message.set_sequence(++sequence_);
    awaited += message.wants_answer() ? 1 : 0;
    datagram.insert(datagram.end(), message.bytes().begin(), message.bytes().end());
  }
  if (::send(socket_.get(), datagram.data(), datagram.size(), 0) < 0) {
    return std::unexpected(last_error());
  }
  std::vector<std::byte> answer(kAnswerBytesMax);
  while (awaited > 0) {
    auto const count = receive(answer);
    if (!count) return std::unexpected(count.error());
    int error = 0;
    for_each_message(std::span(answer).first(*count),
                     [&](const nlmsghdr& header, std::span<const std::byte> payload) {
                       nlmsgerr told;
                       if (header.nlmsg_type != NLMSG_ERROR || payload.size() < sizeof told ||
                           header.nlmsg_seq < first) {
                         return;
                       }
                       std::memcpy(&told, payload.data(), sizeof told);
                       if (error == 0) error = -told.error;
                       if (awaited > 0) --awaited;
                     });
    if (error != 0) return std::unexpected(std::error_code(error, std::system_category()));
  }
  return {};
}

std::expected<void, std::error_code> NetlinkSocket::request(NetlinkMessage message) {
  return request(std::span(&message, 1));
}

std::expected<DeviceDrops, std::error_code> NetlinkSocket::drops_of(int index) {
  NetlinkMessage message(RTM_GETLINK, 0);
  message.fixed(ifinfomsg{.ifi_family = AF_UNSPEC,
                          .__ifi_pad = 0,
                          .ifi_type = 0,
                          .ifi_index = index,
                          .ifi_flags = 0,
                          .ifi_change = 0});
  message.set_sequence(++sequence_);
  if (::send(socket_.get(), message.bytes().data(), message.bytes().size(), 0) < 0) {
    return std::unexpected(last_error());
  }
  std::vector<std::byte> answer(kAnswerBytesMax);
  auto const count = receive(answer);
  if (!count) return std::unexpected(count.error());
  std::expected<DeviceDrops, std::error_code> drops =
      std::unexpected(std::make_error_code(std::errc::bad_message));
  for_each_message(std::span(answer).first(*count), [&](const nlmsghdr& header,
                                                        std::span<const std::byte> payload) {
    auto const fixed = NLMSG_ALIGN(sizeof(ifinfomsg));
    if (header.nlmsg_type != RTM_NEWLINK || payload.size() < fixed) return;
    auto const value = find_attribute(payload.subspan(fixed), IFLA_STATS64);
    rtnl_link_stats64 stats{};
    if (value.empty()) return;
    std::memcpy(&stats, value.data(), std::min(value.size(), sizeof stats));
    drops = DeviceDrops{.received = stats.rx_dropped, .transmitted = stats.tx_dropped};
  });
  return drops;
}

}  // namespace reprise
