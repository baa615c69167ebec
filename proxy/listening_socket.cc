#include "proxy/listening_socket.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace reprise {
namespace {

constexpr int kBacklog = 4096;
/// Linux's default congestion control. On machines with BBR, whose pacing on loopback costs a fifth
/// more CPU on 100 KB responses, replays would differ.
constexpr std::string_view kCongestionControl = "cubic";

}  // namespace

Result<ListeningSocket> bind_and_listen(const Listen& listen, std::uint16_t port, bool sibling) {
  tcp::endpoint where(listen.at.address(), port);
  int const handle =
      ::socket(where.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  auto const give_up = [handle] {
    std::error_code const error(errno, std::system_category());
    if (handle >= 0) ::close(handle);
    return fail(error);
  };
  if (handle < 0) return give_up();
  int const on = 1;
  ::setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Sockets inherit it from their listener.
  ::setsockopt(handle, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytesMax, sizeof kUnsentBytesMax);
  // Not every system permits this choice; then it does not change.
  ::setsockopt(handle, IPPROTO_TCP, TCP_CONGESTION, kCongestionControl.data(),
               kCongestionControl.size());
  if (sibling) ::setsockopt(handle, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (listen.whole_loopback) {
    constexpr std::string_view kDevice = "lo";
    if (::setsockopt(handle, SOL_SOCKET, SO_BINDTODEVICE, kDevice.data(), kDevice.size()) != 0) {
      return give_up();
    }
    where.address(net::ip::address_v4::any());
  }
  if (::bind(handle, where.data(), static_cast<socklen_t>(where.size())) != 0) return give_up();
  if (!sibling) ::setsockopt(handle, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (::listen(handle, kBacklog) != 0) return give_up();
  auto length = static_cast<socklen_t>(where.capacity());
  if (::getsockname(handle, where.data(), &length) != 0) return give_up();
  where.resize(length);
  return ListeningSocket{.socket = handle, .at = {listen.at.address(), where.port()}};
}

Result<ListeningSocket> adopt(int listener, bool shared) {
  tcp::endpoint where;
  auto length = static_cast<socklen_t>(where.capacity());
  int const socket = shared ? ::fcntl(listener, F_DUPFD_CLOEXEC, 0) : listener;
  if (socket < 0 || ::getsockname(socket, where.data(), &length) != 0) {
    return fail({errno, std::system_category()});
  }
  where.resize(length);
  return ListeningSocket{.socket = socket, .at = where};
}

}  // namespace reprise
