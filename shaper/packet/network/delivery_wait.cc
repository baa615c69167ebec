#include "shaper/packet/network/delivery_wait.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace reprise {

std::uint64_t undelivered_bytes(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  // The kernel's number of bytes stays as it was when the connection broke.
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  if (info.tcpi_state == TCP_CLOSE) return 0;
  int bytes = 0;
  if (::ioctl(socket, SIOCOUTQ, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<std::uint64_t>(bytes);
}

bool DeliveryWait::is_over(std::uint64_t left_bytes, Time now) {
  if (!unchanged_since_ || left_bytes != left_bytes_) unchanged_since_ = now;
  left_bytes_ = left_bytes;
  return left_bytes == 0 || now - *unchanged_since_ >= kPatience;
}

}  // namespace reprise
