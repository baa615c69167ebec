#pragma once

#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/address_v4.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace reprise {

/// A received UDP datagram, with the addresses that an answer needs. A plain value.
class Datagram {
 public:
  static constexpr std::size_t kBytesMax = 65535;

  /// Makes the socket report the destination of datagrams. On a socket bound to all addresses,
  /// answers are sent from the right address only after this.
  static void prepare(int socket);

  /// The next datagram, without waiting, or nullopt.
  static std::optional<Datagram> receive(int socket);

  std::span<const std::byte> bytes() const { return bytes_; }
  /// The IPv4 address that it was sent to, if the socket reports it.
  std::optional<boost::asio::ip::address_v4> destination() const;

  /// Sends an answer to the sender, from the address that it used: clients check that. An answer
  /// that the system does not accept at once is lost, as on any network.
  void answer(int socket, std::span<const std::byte> bytes) const;

 private:
  std::vector<std::byte> bytes_;
  sockaddr_storage peer_{};
  socklen_t peer_size_ = 0;
  alignas(cmsghdr) std::array<std::byte, 64> control_{};
  std::size_t control_size_ = 0;
};

}  // namespace reprise
