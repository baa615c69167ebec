#include "shaper/packet/network/control_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace reprise {
namespace {

struct Header {
  ControlKind kind;
  std::uint32_t size;
};

/// An event loop that watches an end may have made it non-blocking.
void wait_for(int socket, short events) {
  pollfd waited{.fd = socket, .events = events, .revents = 0};
  ::poll(&waited, 1, -1);
}

bool send_all(int socket, const char* data, std::size_t size) {
  while (size > 0) {
    auto const count = ::send(socket, data, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN) wait_for(socket, POLLOUT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return false;
    data += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool receive_all(int socket, char* data, std::size_t size) {
  while (size > 0) {
    auto const count = ::recv(socket, data, size, 0);
    if (count < 0 && errno == EAGAIN) wait_for(socket, POLLIN);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return false;
    data += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

constexpr std::size_t kRightsBytes = CMSG_SPACE(sizeof(int) * kControlDescriptorsMax);

}  // namespace

bool send_control(int socket, ControlKind kind, const std::string& text,
                  const std::vector<int>& descriptors) {
  if (text.size() > kControlTextMax || descriptors.size() > kControlDescriptorsMax) return false;
  Header header{.kind = kind, .size = static_cast<std::uint32_t>(text.size())};
  iovec part{.iov_base = &header, .iov_len = sizeof header};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, kRightsBytes> rights{};
  if (!descriptors.empty()) {
    auto const size = descriptors.size() * sizeof(int);
    message.msg_control = rights.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* const control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(control), descriptors.data(), size);
  }
  ssize_t count = 0;
  do {
    count = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  return count == sizeof header && send_all(socket, text.data(), text.size());
}

std::optional<ControlMessage> receive_control(int socket) {
  Header header{};
  iovec part{.iov_base = &header, .iov_len = sizeof header};
  alignas(cmsghdr) std::array<char, kRightsBytes> rights{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = rights.data();
  message.msg_controllen = rights.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (count < 0 && errno == EINTR);
  ControlMessage received;
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); count > 0 && control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    auto const number = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < number; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
      received.descriptors.emplace_back(fd);
    }
  }
  if (count != sizeof header || header.size > kControlTextMax) return std::nullopt;
  received.kind = header.kind;
  received.text.resize(header.size);
  if (!receive_all(socket, received.text.data(), received.text.size())) return std::nullopt;
  return received;
}

}  // namespace reprise
