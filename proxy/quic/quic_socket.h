#pragma once

#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/system/descriptor.h"
#include "proxy/quic/quic_connection.h"

namespace reprise {

/// A bound UDP socket of one thread, over IPv4 or IPv6 alone, non-blocking: receives and sends
/// several packets a system call (recvmmsg, GRO and GSO), knows the address that a client used
/// (IP_PKTINFO), and the ECN marks.
class QuicSocket {
 public:
  using Endpoint = boost::asio::ip::udp::endpoint;

  /// One datagram of a client; valid until the next receive().
  struct Datagram {
    Bytes bytes;
    Endpoint local;
    Endpoint client;
    std::uint32_t ecn = 0;
  };

  /// Binds to `at`; `shared`: with SO_REUSEPORT, as the sockets of other threads. With `device`, it
  /// takes every IPv4 address of that device instead of that of `at`. Errors: the system's.
  static Result<QuicSocket> bind(const Endpoint& at, bool shared, const char* device = nullptr);
  /// Takes a bound socket from elsewhere. Errors: the system's.
  static Result<QuicSocket> adopt(Descriptor socket);

  int descriptor() const { return socket_.get(); }
  const Endpoint& bound() const { return bound_; }

  /// The datagrams that are there, at most some hundreds; without waiting. Errors: the system's.
  Result<std::span<const Datagram>> receive();
  /// Whether the last receive() may have left some.
  bool may_have_more() const { return may_have_more_; }
  /// Sends the packets of a burst. False: the socket takes none now; try again once it is writable.
  /// Packets that the system does not accept otherwise are lost, as on any network.
  bool send(Bytes packets, const QuicBurst& burst, const Endpoint& local, const Endpoint& client);

 private:
  struct Buffers;
  explicit QuicSocket(Descriptor socket);
  Result<void> prepare();
  bool send_once(Bytes packets, std::size_t segment_bytes, std::uint32_t ecn, const Endpoint& local,
                 const Endpoint& client);

  Descriptor socket_;
  Endpoint bound_;
  bool segments_ = true;  // the kernel cuts bursts into packets
  std::unique_ptr<Buffers> buffers_;
  std::vector<Datagram> received_;
  bool may_have_more_ = false;

 public:
  ~QuicSocket();
  QuicSocket(QuicSocket&&) noexcept;
  QuicSocket& operator=(QuicSocket&&) noexcept;
};

}  // namespace reprise
