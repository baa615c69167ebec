#include "proxy/quic/quic_socket.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <vector>

namespace reprise {
namespace {

/// Receives on ::1 what was sent in one call in one piece, as the kernel passed it on (UDP_GRO).
class WholeBursts {
 public:
  WholeBursts() : socket_(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    QuicSocket::Endpoint any(boost::asio::ip::address_v6::loopback(), 0);
    EXPECT_EQ(::bind(socket_.get(), any.data(), static_cast<socklen_t>(any.size())), 0);
    auto length = static_cast<socklen_t>(any.capacity());
    EXPECT_EQ(::getsockname(socket_.get(), any.data(), &length), 0);
    at_ = any;
    int const on = 1;
    EXPECT_EQ(::setsockopt(socket_.get(), IPPROTO_UDP, UDP_GRO, &on, sizeof on), 0);
    timeval const patience{.tv_sec = 5, .tv_usec = 0};
    EXPECT_EQ(::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  }
  const QuicSocket::Endpoint& at() const { return at_; }
  /// The size of the next one; -1: nothing has come.
  ssize_t receive() const {
    std::vector<std::byte> bytes(65536);
    return ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  }

 private:
  Descriptor socket_;
  QuicSocket::Endpoint at_;
};

/// Over IPv6, whose sockets can have an MTU below that of the device.
TEST(QuicSocket, KeepsSegmentingAfterPacketsThatAreLongerThanTheMtu) {
  QuicSocket::Endpoint const loopback(boost::asio::ip::address_v6::loopback(), 0);
  auto socket = QuicSocket::bind(loopback, false);
  if (!socket) GTEST_SKIP() << "no IPv6: " << socket.error().message();
  int const mtu_bytes = 1280;
  ASSERT_EQ(
      ::setsockopt(socket->descriptor(), IPPROTO_IPV6, IPV6_MTU, &mtu_bytes, sizeof mtu_bytes), 0);
  WholeBursts const receiver;
  auto const send = [&](std::size_t size_bytes, std::size_t segment_bytes) {
    std::vector<std::byte> const packets(size_bytes);
    QuicBurst const burst{.size_bytes = size_bytes, .segment_bytes = segment_bytes};
    EXPECT_TRUE(socket->send(packets, burst, socket->bound(), receiver.at()));
  };
  // The first packet is lost, not the second.
  send(1400 + 1000, 1400);
  EXPECT_EQ(receiver.receive(), 1000);
  send(3000, 1000);
  EXPECT_EQ(receiver.receive(), 3000);
}

}  // namespace
}  // namespace reprise
