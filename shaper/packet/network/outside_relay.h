#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/system/descriptor.h"
#include "shaper/packet/network/datagram.h"
#include "shaper/packet/network/shell_error.h"

namespace reprise {

/// The outer network behind a packet link: accepts the connections to a shell's listeners, and
/// relays each to its original address and port, over an ordinary socket of this process. A
/// connection is accepted before its destination is dialled: one that is refused outside is reset
/// after the handshake, and the dial outside counts towards the first byte. Then both are joined
/// (joined_connections.h). Runs on the thread of `context`.
///
/// The server's own address (topology.h) stands for this machine's loopback; its port 53 stands for
/// the resolvers. They are asked in order: over UDP the next one when one cannot be reached, fails
/// or has not answered within 1.5 seconds, over TCP when it cannot be connected to. The one that
/// helped is then asked first. Traffic to a resolver's own address does not change the order.
class OutsideRelay {
 public:
  static constexpr std::size_t kConnectionsMax = 4096;
  static constexpr std::size_t kQueriesMax = 512;

  OutsideRelay(boost::asio::io_context& context, std::vector<boost::asio::ip::address> resolvers)
      : context_(context), resolvers_(std::move(resolvers)) {}

  /// Serves a TCP listener, or a UDP socket with IP_PKTINFO, where each datagram is a query with
  /// one answer; as long as the context runs.
  ShellResult<void> carry(Descriptor socket);

 private:
  using tcp = boost::asio::ip::tcp;
  using udp = boost::asio::ip::udp;
  template <class Socket>
  using Service = boost::asio::awaitable<void> (OutsideRelay::*)(Socket);

  template <class Socket>
  ShellResult<void> serve(Descriptor descriptor, Service<Socket> service);
  boost::asio::awaitable<void> accept(tcp::acceptor listener);
  boost::asio::awaitable<void> carry(tcp::socket inside);
  boost::asio::awaitable<void> read_questions(udp::socket socket);
  boost::asio::awaitable<void> answer(udp::socket& socket, Datagram question);
  /// What an address stands for, in the order to try.
  std::vector<boost::asio::ip::address> outside(const boost::asio::ip::address_v4& address,
                                                std::uint16_t port) const;
  /// From now on, asks this resolver first.
  void prefer(const boost::asio::ip::address& resolver);

  boost::asio::io_context& context_;
  std::vector<boost::asio::ip::address> resolvers_;
  // Connections outlive this, until the context ends.
  std::shared_ptr<std::size_t> open_connections_ = std::make_shared<std::size_t>(0);
  std::size_t open_queries_ = 0;
};

/// The servers of a resolv.conf, in order; as in the C library, the first three, and loopback
/// without one.
std::vector<boost::asio::ip::address> resolvers_of(const std::filesystem::path& settings);

/// The lines of a resolv.conf that say which names short ones stand for: its search lists, and the
/// dots of a name that is tried as it is first.
std::string search_settings(const std::filesystem::path& settings);

}  // namespace reprise
