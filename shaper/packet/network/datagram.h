#pragma once

#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/address_v4.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace reprise {

/// A UDP datagram that a socket has received, with what an answer needs to find the way back. Plain
/// value.
class Datagram {
 public:
  static constexpr std::size_t kBytesMax = 65535;

  /// Has the socket tell what address datagrams come to. Where it is bound to all addresses,
  /// answers leave from the right one only after this.
  static void prepare(int socket);

  /// The next one, without waiting; nothing when there is none.
  static std::optional<Datagram> receive(int socket);

  std::span<const std::byte> bytes() const { return bytes_; }
  /// The IPv4 address that it was sent to, if the socket tells.
  std::optional<boost::asio::ip::address_v4> destination() const;

  /// To who has sent this, from the address that he sent it to: clients check. An answer that the
  /// system does not take at once is lost, as on any network.
  void answer(int socket, std::span<const std::byte> bytes) const;

 private:
  std::vector<std::byte> bytes_;
  sockaddr_storage peer_{};
  socklen_t peer_size_ = 0;
  alignas(cmsghdr) std::array<std::byte, 64> control_{};
  std::size_t control_size_ = 0;
};

}  // namespace reprise
