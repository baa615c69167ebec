#include "tools/tsproxy/tunnels.h"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "shaper/packet/network/joined_connections.h"
#include "shaper/socket_deadline.h"

namespace reprise::tsproxy {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kConnectionsMax = 4096;
constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::milliseconds kAcceptPause{50};

awaitable<bool> send(tcp::socket& socket, Bytes bytes) {
  auto const [error, written] = co_await net::async_write(socket, net::buffer(bytes), kTuple);
  co_return !error;
}

bool is_local(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1";
}

}  // namespace

/// A modelled link. Connections enter it by a listener of its own.
class Tunnels::Link : public std::enable_shared_from_this<Link> {
 public:
  explicit Link(net::io_context& context) : context_(context), entrance_(context) {}

  Result<void> open(const LinkProfile& profile) {
    boost::system::error_code error;
    tcp::endpoint const any(net::ip::address_v4::loopback(), 0);
    entrance_.open(tcp::v4(), error);
    if (!error) entrance_.bind(any, error);
    if (!error) entrance_.listen(net::socket_base::max_listen_connections, error);
    if (!error) entrance_.non_blocking(true, error);
    if (error) return fail(error);
    at_ = entrance_.local_endpoint();
    StreamShellOptions options{.profile = profile, .seed = std::random_device()()};
    options.listeners.emplace_back(entrance_.release(error));
    options.hand_over = [this_link = weak_from_this(), &context = context_](StreamArrival arrival) {
      net::post(context, [this_link, arrival = std::move(arrival)]() mutable {
        if (auto const link = this_link.lock()) link->arrive(std::move(arrival));
      });
    };
    auto shell = StreamShell::start(std::move(options));
    if (!shell) return fail(shell.error().code);
    shell_ = std::move(*shell);
    return {};
  }

  /// A socket whose bytes cross the link to `destination`, and back.
  struct Entered {
    tcp::socket socket;
    std::shared_ptr<void> keeps;  ///< must live as long: the link, and the destination until then
  };
  Task<Entered> enter(tcp::socket destination) {
    tcp::socket near(context_);
    boost::system::error_code error;
    near.open(tcp::v4(), error);
    if (!error) near.bind({net::ip::address_v4::loopback(), 0}, error);
    auto const from = error ? tcp::endpoint() : near.local_endpoint(error);
    if (error) co_return fail(error);
    auto const number = ++entered_;
    destinations_.insert_or_assign(from, Waiting{number, std::move(destination)});
    std::shared_ptr<void> keeps(nullptr, [link = shared_from_this(), from, number](void*) {
      auto const left = link->destinations_.find(from);
      if (left == link->destinations_.end() || left->second.number != number) return;
      link->destinations_.erase(left);
    });
    std::tie(error) = co_await near.async_connect(at_, kTuple);
    if (error) co_return fail(error);
    co_return Entered{std::move(near), std::move(keeps)};
  }

 private:
  void arrive(StreamArrival arrival) {
    auto const found = destinations_.find(arrival.client);
    if (found == destinations_.end()) {  // another program's
      *arrival.aborted = true;
      return;
    }
    auto destination = std::move(found->second.socket);
    destinations_.erase(found);
    net::local::stream_protocol::socket far(context_);
    boost::system::error_code error;
    far.assign(net::local::stream_protocol(), arrival.socket.get(), error);
    if (error) return;
    arrival.socket.release();
    net::co_spawn(context_,
                  join_connections(std::move(far), std::move(destination), shared_from_this(),
                                   [aborted = std::move(arrival.aborted)] { *aborted = true; }),
                  [](std::exception_ptr) {});
  }

  net::io_context& context_;
  tcp::acceptor entrance_;
  tcp::endpoint at_;
  struct Waiting {
    std::uint64_t number = 0;
    tcp::socket socket;
  };
  std::map<tcp::endpoint, Waiting> destinations_;  // by the client's address
  std::uint64_t entered_ = 0;
  std::unique_ptr<StreamShell> shell_;
};

Tunnels::Tunnels(net::io_context& context, TunnelOptions options, Settings settings)
    : context_(context), options_(std::move(options)), settings_(std::move(settings)) {}

Tunnels::~Tunnels() = default;

Result<tcp::endpoint> Tunnels::listen(const tcp::endpoint& at) {
  tcp::acceptor listener(context_);
  boost::system::error_code error;
  listener.open(at.protocol(), error);
  if (!error) listener.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) listener.bind(at, error);
  if (!error) listener.listen(net::socket_base::max_listen_connections, error);
  if (error) return fail(error);
  auto const bound = listener.local_endpoint();
  net::co_spawn(context_, accept(std::move(listener)), [](std::exception_ptr) {});
  return bound;
}

void Tunnels::change(const Settings& settings) {
  if (settings.link() != settings_.link()) link_.reset();
  settings_ = settings;
}

awaitable<void> Tunnels::accept(tcp::acceptor listener) {
  net::steady_timer pause(context_);
  while (true) {
    if (*open_connections_ < kConnectionsMax) {
      auto [error, client] = co_await listener.async_accept(kTuple);
      if (error == net::error::operation_aborted) co_return;
      if (!error) {
        ++*open_connections_;
        std::shared_ptr<void> counted(nullptr, [open = open_connections_](void*) { --*open; });
        net::co_spawn(context_, serve(std::move(client), std::move(counted)),
                      [](std::exception_ptr) {});
        continue;
      }
    }
    pause.expires_after(kAcceptPause);  // connections that end free descriptors
    co_await pause.async_wait(kTuple);
  }
}

awaitable<void> Tunnels::serve(tcp::socket client, std::shared_ptr<void> counted) {
  boost::system::error_code error;
  client.set_option(tcp::no_delay(true), error);
  auto const target = co_await shake_hands(client);
  if (!target) co_return;
  auto destination = co_await dial(*target);
  if (!destination) {
    co_await send(client, request_answer(SocksReply::kHostUnreachable));
    co_return;
  }
  auto const across = link();
  std::shared_ptr<void> keeps;
  if (across && *across) {
    auto entered = co_await (*across)->enter(std::move(*destination));
    destination.reset();
    if (entered) {
      destination.emplace(std::move(entered->socket));
      keeps = std::move(entered->keeps);
    }
  }
  if (!across || !destination) {
    co_await send(client, request_answer(SocksReply::kFailed));
    co_return;
  }
  if (!co_await send(client, request_answer(SocksReply::kSucceeded))) co_return;
  using Held = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
  std::shared_ptr<void> held = std::make_shared<Held>(std::move(counted), std::move(keeps));
  co_await join_connections(std::move(client), std::move(*destination), std::move(held));
}

/// Reads the greeting and the request, and answers what cannot be served. A client sends nothing
/// after its request before it has the answer.
awaitable<std::optional<Tunnels::Target>> Tunnels::shake_hands(tcp::socket& client) {
  SocketDeadline const deadline(client, kPatience);
  Bytes bytes;
  bool greeted = false;
  while (bytes.size() < kSocksBytesMax) {
    std::array<std::uint8_t, kSocksBytesMax> buffer;
    auto const [error, size] =
        co_await client.async_read_some(net::buffer(buffer, kSocksBytesMax - bytes.size()), kTuple);
    if (error) co_return std::nullopt;
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size));
    if (!greeted) {
      auto const greeting = read_greeting(bytes);
      if (!greeting && greeting.error() == SocksFault::kIncomplete) continue;
      if (!greeting && greeting.error() == SocksFault::kNotSocks) co_return std::nullopt;
      if (!co_await send(client, greeting_answer(greeting.has_value())) || !greeting) {
        co_return std::nullopt;
      }
      greeted = true;
      bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*greeting));
    }
    auto const request = read_request(bytes);
    if (request) co_return target_of(*request);
    if (request.error() == SocksFault::kIncomplete) continue;
    if (request.error() == SocksFault::kNotSupported) {
      co_await send(client, request_answer(SocksReply::kCommandNotSupported));
    } else if (request.error() == SocksFault::kBadAddress) {
      co_await send(client, request_answer(SocksReply::kAddressNotSupported));
    }
    co_return std::nullopt;
  }
  co_return std::nullopt;
}

Tunnels::Target Tunnels::target_of(const SocksRequest& request) const {
  if (is_local(request.host) && !options_.redirect_local) return {"127.0.0.1", request.port};
  return {options_.destination.empty() ? request.host : options_.destination,
          settings_.ports.of(request.port)};
}

awaitable<std::optional<tcp::socket>> Tunnels::dial(const Target& target) {
  tcp::resolver resolver(context_);
  auto const [unknown, addresses] =
      co_await resolver.async_resolve(target.host, std::to_string(target.port), kTuple);
  if (unknown) co_return std::nullopt;
  for (auto const& each : addresses) {
    tcp::socket socket(context_);
    SocketDeadline const deadline(socket, kPatience);
    auto const [error] = co_await socket.async_connect(each.endpoint(), kTuple);
    if (error) continue;
    co_return std::move(socket);
  }
  co_return std::nullopt;
}

Result<std::shared_ptr<Tunnels::Link>> Tunnels::link() {
  auto const text = settings_.link();
  if (text.empty() || link_) return link_;
  auto const profile = parse_link(text);
  if (!profile) return fail(std::make_error_code(std::errc::invalid_argument));
  auto made = std::make_shared<Link>(context_);
  if (auto const opened = made->open(*profile); !opened) {
    std::fprintf(stderr, "reprise: the link cannot be modelled: %s\n",
                 opened.error().message().c_str());
    return fail(opened.error());
  }
  link_ = std::move(made);
  return link_;
}

}  // namespace reprise::tsproxy
