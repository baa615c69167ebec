#include "shaper/packet/network/outside_relay.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "shaper/packet/network/joined_connections.h"
#include "shaper/packet/network/topology.h"
#include "shaper/socket_deadline.h"

namespace reprise {
namespace {

namespace net = boost::asio;
using net::ip::tcp;
using net::ip::udp;

constexpr auto kTuple = net::as_tuple(net::deferred);
constexpr std::uint16_t kDnsPort = 53;
constexpr std::chrono::seconds kDialPatience{30};
constexpr std::chrono::seconds kAnswerPatience{10};
/// For a resolver that has to ask others. The command asks five times, once a second: the last time
/// well after two silent resolvers have been passed over.
constexpr std::chrono::milliseconds kNextResolverAfter{1500};
constexpr std::size_t kResolversMax = 3;
constexpr std::chrono::milliseconds kAcceptPause{50};

/// The reply of a server; empty without one.
net::awaitable<std::vector<std::byte>> ask(udp::endpoint server,
                                           std::span<const std::byte> question,
                                           std::chrono::milliseconds patience) {
  auto const executor = co_await net::this_coro::executor;
  udp::socket socket(executor);
  boost::system::error_code error;
  socket.connect(server, error);
  std::vector<std::byte> reply(Datagram::kBytesMax);
  std::size_t size = 0;
  if (!error) {
    SocketDeadline const deadline(socket, patience);
    auto const sent = net::buffer(question.data(), question.size());
    std::tie(error, size) = co_await socket.async_send(sent, kTuple);
    if (!error) std::tie(error, size) = co_await socket.async_receive(net::buffer(reply), kTuple);
  }
  reply.resize(error ? 0 : size);
  co_return reply;
}

/// No reply, SERVFAIL, NOTIMP or REFUSED.
bool is_failure(std::span<const std::byte> reply) {
  if (reply.size() < 4) return true;
  auto const code = std::to_integer<unsigned>(reply[3]) & 0xf;
  return code == 2 || code == 4 || code == 5;
}

bool means_resolvers(const net::ip::address_v4& address, std::uint16_t port) {
  return address.to_uint() == kServerAddress && port == kDnsPort;
}

}  // namespace

std::vector<net::ip::address> OutsideRelay::outside(const net::ip::address_v4& address,
                                                    std::uint16_t port) const {
  if (means_resolvers(address, port)) return resolvers_;
  if (address.to_uint() == kServerAddress) return {net::ip::address_v4::loopback()};
  return {address};
}

void OutsideRelay::prefer(const net::ip::address& resolver) {
  auto const at = std::ranges::find(resolvers_, resolver);
  if (at != resolvers_.end()) std::rotate(resolvers_.begin(), at, at + 1);
}

ShellResult<void> OutsideRelay::carry(Descriptor socket) {
  int type = 0;
  socklen_t size = sizeof type;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &size);
  return type == SOCK_DGRAM ? serve<udp::socket>(std::move(socket), &OutsideRelay::read_questions)
                            : serve<tcp::acceptor>(std::move(socket), &OutsideRelay::accept);
}

template <class Socket>
ShellResult<void> OutsideRelay::serve(Descriptor descriptor, Service<Socket> service) {
  Socket socket(context_);
  boost::system::error_code error;
  socket.assign(Socket::protocol_type::v4(), descriptor.get(), error);
  if (error) return shell_failure("a socket behind the link cannot be served", {}, error.value());
  descriptor.release();
  net::co_spawn(context_, (this->*service)(std::move(socket)), [](std::exception_ptr) {});
  return {};
}

net::awaitable<void> OutsideRelay::accept(tcp::acceptor listener) {
  net::steady_timer pause(context_);
  while (true) {
    if (*open_connections_ >= kConnectionsMax) {
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kTuple);
      continue;
    }
    auto [error, inside] = co_await listener.async_accept(kTuple);
    if (error == net::error::operation_aborted) co_return;
    if (error) {
      // Probably out of descriptors: closing connections will free some.
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kTuple);
      continue;
    }
    net::co_spawn(context_, carry(std::move(inside)), [](std::exception_ptr) {});
  }
}

net::awaitable<void> OutsideRelay::carry(tcp::socket inside) {
  boost::system::error_code error;
  auto const asked = inside.local_endpoint(error);
  if (error) co_return;
  ++*open_connections_;
  std::shared_ptr<void> counted(nullptr, [open = open_connections_](void*) { --*open; });
  auto const address_asked = asked.address().to_v4();
  auto const destinations = outside(address_asked, asked.port());
  tcp::socket dialled(context_);
  for (auto const& address : destinations) {
    bool const is_last = &address == &destinations.back();
    tcp::endpoint const destination(address, asked.port());
    SocketDeadline const deadline(dialled, is_last ? kDialPatience : kNextResolverAfter);
    std::tie(error) = co_await dialled.async_connect(destination, kTuple);
    if (!error) {
      if (means_resolvers(address_asked, asked.port())) prefer(address);
      break;
    }
    boost::system::error_code ignored;
    dialled.close(ignored);
  }
  if (error) {
    reset_connection(inside);
    co_return;
  }
  co_await join_connections(std::move(inside), std::move(dialled), std::move(counted));
}

net::awaitable<void> OutsideRelay::read_questions(udp::socket socket) {
  while (true) {
    auto const [error] = co_await socket.async_wait(udp::socket::wait_read, kTuple);
    if (error) co_return;
    auto question = Datagram::receive(socket.native_handle());
    if (!question || open_queries_ >= kQueriesMax) continue;
    ++open_queries_;
    net::co_spawn(context_, answer(socket, std::move(*question)),
                  [this](std::exception_ptr) { --open_queries_; });
  }
}

net::awaitable<void> OutsideRelay::answer(udp::socket& socket, Datagram question) {
  auto const asked = question.destination();
  if (!asked) co_return;
  auto const servers = outside(*asked, kDnsPort);
  std::vector<std::byte> reply;
  for (auto const& address : servers) {
    bool const is_last = &address == &servers.back();
    udp::endpoint const server(address, kDnsPort);
    bool const waits = is_last && reply.empty();
    auto got = co_await ask(server, question.bytes(), waits ? kAnswerPatience : kNextResolverAfter);
    bool const helped = !is_failure(got);
    if (!got.empty()) reply = std::move(got);
    if (helped) {
      if (means_resolvers(*asked, kDnsPort)) prefer(address);
      break;
    }
  }
  if (!reply.empty()) question.answer(socket.native_handle(), reply);
}

std::vector<net::ip::address> resolvers_of(const std::filesystem::path& settings) {
  std::vector<net::ip::address> found;
  std::ifstream file(settings);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::string server;
    if (!(words >> word >> server) || word != "nameserver") continue;
    boost::system::error_code error;
    auto const address = net::ip::make_address(server, error);
    if (!error && found.size() < kResolversMax) found.push_back(address);
  }
  if (found.empty()) found.push_back(net::ip::address_v4::loopback());
  return found;
}

std::string search_settings(const std::filesystem::path& settings) {
  std::ifstream file(settings);
  std::string found;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "search" || word == "domain") found += line + '\n';
    if (word != "options") continue;
    while (words >> word) {
      if (word.starts_with("ndots:")) found += "options " + word + '\n';
    }
  }
  return found;
}

}  // namespace reprise
