#include "dns/server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <list>
#include <utility>

#include "base/system/descriptor.h"
#include "dns/await.h"
#include "dns/udp_batch.h"
#include "dns/wire.h"

namespace reprise::dns {
namespace {

namespace net = boost::asio;
using net::awaitable;
using net::ip::tcp;
using net::ip::udp;
using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 256;
constexpr int kPortTriesMax = 16;
constexpr int kReceiveBufferBytes = 1 << 20;    // queries that arrive while the thread is busy
constexpr std::size_t kAnswersMax = 64 * 1024;  // for pipelined queries, before they are written
constexpr std::chrono::milliseconds kAcceptPause{100};  // after running out of descriptors

std::error_code last_error() {
  return {errno, std::system_category()};
}

Result<int> bound_socket(int type, const udp::endpoint& at) {
  Descriptor socket(::socket(at.protocol().family(), type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return fail(last_error());
  int const on = 1;
  if (type == SOCK_STREAM) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  }
  if (at.address().is_v6()) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(socket.get(), at.data(), static_cast<socklen_t>(at.size())) != 0 ||
      (type == SOCK_STREAM && ::listen(socket.get(), kBacklog) != 0)) {
    return fail(last_error());
  }
  return socket.release();
}

Result<udp::endpoint> local_endpoint(int socket) {
  udp::endpoint at;
  auto size = static_cast<socklen_t>(at.capacity());
  if (::getsockname(socket, at.data(), &size) != 0) return fail(last_error());
  at.resize(size);
  return at;
}

bool is_near(const net::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return is_near(net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6()));
  }
  if (address.is_loopback()) return true;
  if (!address.is_v4()) return false;
  auto const bits = address.to_v4().to_uint();
  return bits >> 17 == (198u << 24 | 18u << 16) >> 17 || bits >> 8 == (192u << 16 | 2u);
}

bool is_near(const sockaddr_storage& from) {
  udp::endpoint at;
  std::memcpy(at.data(), &from, std::min(at.capacity(), sizeof from));
  return is_near(at.address());
}

}  // namespace

/// Lives as long as any of its coroutines; after stop() none of them uses the responder.
struct Server::State : std::enable_shared_from_this<State> {
  struct Client {
    tcp::socket socket;
    Clock::time_point deadline;
  };
  using Clients = std::list<Client>;

  State(net::io_context& given_context, Responder& given_responder, const Options& given_options)
      : context(given_context),
        responder(given_responder),
        options(given_options),
        sweeper(context) {}

  awaitable<void> serve_udp(udp::socket& socket);
  awaitable<void> accept(tcp::acceptor& acceptor);
  awaitable<void> serve_client(Clients::iterator client);
  struct Answered {
    std::size_t taken_bytes = 0;
    std::chrono::nanoseconds delay{};
    bool broken = false;
  };
  Answered answer_messages(std::span<const std::uint8_t> in, std::vector<std::uint8_t>& out);
  awaitable<void> wait(std::chrono::nanoseconds delay);
  bool hold(std::chrono::nanoseconds delay, std::function<void()> then);
  void open(tcp::socket socket);
  void admit(tcp::socket socket);
  void sweep();
  void stop();
  /// Starts a coroutine that keeps this state alive.
  void spawn(awaitable<void> task) {
    net::co_spawn(context, std::move(task), [self = shared_from_this()](std::exception_ptr broken) {
      if (broken) std::rethrow_exception(broken);
    });
  }

  net::io_context& context;
  Responder& responder;
  Options options;
  net::steady_timer sweeper;
  std::list<udp::socket> udp_sockets;
  std::list<tcp::acceptor> acceptors;
  Clients clients;
  std::list<net::steady_timer> delays;  // of answers that wait
  UdpBatch batch;
  std::vector<std::uint8_t> scratch = std::vector<std::uint8_t>(kMessageMax);
  bool sweeping = false;
  bool stopped = false;
};

awaitable<void> Server::State::serve_udp(udp::socket& socket) {
  UdpBatch::Answer const answer = [this](std::span<const std::uint8_t> query,
                                         const sockaddr_storage& from,
                                         std::span<std::uint8_t> out) -> UdpBatch::Reply {
    if (!options.allow_remote && !is_near(from)) return {};
    auto const [size, delay] = responder.respond(query, Responder::Transport::kUdp, out);
    return {.size_bytes = size, .delay = delay};
  };
  UdpBatch::Hold const hold_back = [this, &socket](HeldAnswer held,
                                                   std::chrono::nanoseconds delay) {
    bool const waits = hold(
        delay, [&socket, held = std::move(held)]() mutable { held.send(socket.native_handle()); });
    if (!waits) responder.reply_was_dropped();
  };
  while (true) {
    auto const [error] = co_await socket.async_wait(udp::socket::wait_read, kTuple);
    if (error || stopped) co_return;
    // Other sockets wait, too: at most a few batches per turn.
    for (int i = 0; i < 4; ++i) {
      if (batch.serve(socket.native_handle(), answer, hold_back) < UdpBatch::kMessages) break;
    }
  }
}

/// Ends early if the server stops.
awaitable<void> Server::State::wait(std::chrono::nanoseconds delay) {
  auto const timer = delays.emplace(delays.end(), context, delay);
  co_await timer->async_wait(kTuple);
  delays.erase(timer);
}

/// Calls `then` after the delay, unless the server stops before. False if too many wait already.
bool Server::State::hold(std::chrono::nanoseconds delay, std::function<void()> then) {
  if (delays.size() >= kHeldMax) return false;
  auto const timer = delays.emplace(delays.end(), context, delay);
  timer->async_wait(
      [self = shared_from_this(), timer, then = std::move(then)](boost::system::error_code) {
        self->delays.erase(timer);
        if (!self->stopped) then();
      });
  return true;
}

awaitable<void> Server::State::accept(tcp::acceptor& acceptor) {
  while (true) {
    auto [error, socket] = co_await acceptor.async_accept(kTuple);
    if (stopped || error == net::error::operation_aborted) co_return;
    if (error) {
      net::steady_timer pause(context, kAcceptPause);
      co_await pause.async_wait(kTuple);
      continue;
    }
    open(std::move(socket));
  }
}

void Server::State::open(tcp::socket socket) {
  boost::system::error_code error;
  auto const peer = socket.remote_endpoint(error);
  if (error || (!options.allow_remote && !is_near(peer.address()))) return;
  admit(std::move(socket));
}

void Server::State::admit(tcp::socket socket) {
  boost::system::error_code error;
  if (clients.size() >= options.tcp_connections_max) {
    auto const first = std::ranges::min_element(clients, {}, &Client::deadline);
    first->socket.close(error);
    // Counts until its coroutine has noticed; must not be chosen again.
    first->deadline = Clock::time_point::max();
  }
  socket.set_option(tcp::no_delay(true), error);
  clients.push_back({.socket = std::move(socket), .deadline = Clock::now() + options.tcp_idle});
  spawn(serve_client(std::prev(clients.end())));
  if (!sweeping) sweep();
}

/// Answers the complete messages at the start of `in`, until the output is large.
Server::State::Answered Server::State::answer_messages(std::span<const std::uint8_t> in,
                                                       std::vector<std::uint8_t>& out) {
  Answered done;
  auto& at = done.taken_bytes;
  while (in.size() - at >= 2 && out.size() < kAnswersMax) {
    std::size_t const size = in[at] << 8 | in[at + 1];
    if (in.size() - at - 2 < size) break;
    auto const query = in.subspan(at + 2, size);
    auto const [written, delay] = responder.respond(query, Responder::Transport::kTcp, scratch);
    at += 2 + size;
    done.delay = std::max(done.delay, delay);
    done.broken = written == 0;
    if (done.broken) break;
    out.push_back(static_cast<std::uint8_t>(written >> 8));
    out.push_back(static_cast<std::uint8_t>(written));
    out.insert(out.end(), scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(written));
  }
  return done;
}

awaitable<void> Server::State::serve_client(Clients::iterator client) {
  std::vector<std::uint8_t> in(1024);
  std::vector<std::uint8_t> out;
  std::size_t filled = 0;
  bool broken = false;
  while (!broken && client->socket.is_open()) {
    out.clear();
    auto const answered = answer_messages(std::span(in).first(filled), out);
    broken = answered.broken;
    if (auto const taken = answered.taken_bytes; taken > 0) {
      std::copy(in.begin() + static_cast<std::ptrdiff_t>(taken),
                in.begin() + static_cast<std::ptrdiff_t>(filled), in.begin());
      filled -= taken;
      client->deadline = Clock::now() + answered.delay + options.tcp_idle;
      if (answered.delay > std::chrono::nanoseconds()) {
        co_await wait(answered.delay);
        if (stopped) break;
      }
      auto const [error, count] =
          co_await net::async_write(client->socket, net::buffer(out), kTuple);
      if (error || stopped) break;
      continue;
    }
    if (filled >= 2) in.resize(std::max(in.size(), std::size_t{2} + (in[0] << 8 | in[1])));
    auto const room = net::buffer(in.data() + filled, in.size() - filled);
    auto const [error, count] = co_await client->socket.async_read_some(room, kTuple);
    if (error || stopped) break;
    filled += count;
  }
  clients.erase(client);
}

/// Closes connections past their deadline; one timer for all, stopped while there are none.
void Server::State::sweep() {
  sweeping = !clients.empty() && !stopped;
  if (!sweeping) return;
  sweeper.expires_after(options.tcp_idle / 8);
  sweeper.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (error) return;
    auto const now = Clock::now();
    for (Client& client : self->clients) {
      boost::system::error_code ignored;  // the socket is being dropped
      if (client.deadline < now) client.socket.close(ignored);
    }
    self->sweep();
  });
}

void Server::State::stop() {
  stopped = true;
  sweeper.cancel();
  for (auto& timer : delays) timer.cancel();
  boost::system::error_code ignored;
  for (auto& socket : udp_sockets) socket.close(ignored);
  for (auto& acceptor : acceptors) acceptor.close(ignored);
  for (auto& client : clients) client.socket.close(ignored);
}

Server::Server(net::io_context& context, Responder& responder, const Options& options)
    : state_(std::make_shared<State>(context, responder, options)) {}

Server::~Server() {
  stop();
}

void Server::stop() {
  state_->stop();
}

Result<BoundSockets> bind_sockets(const udp::endpoint& at) {
  for (int tries = 1;; ++tries) {
    auto const datagrams = bound_socket(SOCK_DGRAM, at);
    if (!datagrams) return fail(datagrams.error());
    Descriptor first(*datagrams);
    auto const where = local_endpoint(first.get());
    if (!where) return fail(where.error());
    auto const stream = bound_socket(SOCK_STREAM, *where);
    if (stream) {
      return BoundSockets{.at = *where, .datagrams = first.release(), .listener = *stream};
    }
    bool const clash = stream.error() == std::errc::address_in_use;
    if (at.port() != 0 || !clash || tries == kPortTriesMax) return fail(stream.error());
  }
}

Result<udp::endpoint> Server::listen(const udp::endpoint& at) {
  auto const bound = bind_sockets(at);
  if (!bound) return fail(bound.error());
  auto const first = adopt(bound->datagrams);
  auto const second = adopt(bound->listener);
  if (!first || !second) return fail(first ? second.error() : first.error());
  return bound->at;
}

void Server::take(int descriptor) {
  Descriptor taken(descriptor);
  tcp::socket socket(state_->context);
  boost::system::error_code error;
  socket.assign(tcp::v4(), taken.get(),
                error);  // of any family: only the peer's name needs it
  if (error || state_->stopped) return;
  taken.release();
  state_->admit(std::move(socket));
}

void Server::answer(std::span<const std::uint8_t> query, Send send) {
  auto& state = *state_;
  if (state.stopped) return;
  auto const [size, delay] =
      state.responder.respond(query, Responder::Transport::kUdp, state.scratch);
  std::vector reply(state.scratch.begin(),
                    state.scratch.begin() + static_cast<std::ptrdiff_t>(size));
  if (delay <= std::chrono::nanoseconds()) return send(std::move(reply));
  bool const waits =
      state.hold(delay, [send, reply = std::move(reply)]() mutable { send(std::move(reply)); });
  if (waits) return;
  state.responder.reply_was_dropped();
  send({});
}

Result<void> Server::adopt(int descriptor) {
  Descriptor socket(descriptor);
  int type = 0;
  int listening = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0) {
    return fail(last_error());
  }
  auto const at = local_endpoint(descriptor);
  if (!at) return fail(at.error());
  auto& state = *state_;
  boost::system::error_code error;
  if (type == SOCK_DGRAM) {
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof(int));
    if (at->address().is_unspecified()) UdpBatch::prepare(descriptor);
    auto& added = state.udp_sockets.emplace_back(state.context);
    added.assign(at->protocol(), socket.release(), error);
    if (error) return fail(error);
    state.spawn(state.serve_udp(added));
    return {};
  }
  if (type != SOCK_STREAM || listening == 0) {
    return fail(std::make_error_code(std::errc::not_supported));
  }
  auto const protocol = at->address().is_v6() ? tcp::v6() : tcp::v4();
  auto& added = state.acceptors.emplace_back(state.context);
  added.assign(protocol, socket.release(), error);
  if (error) return fail(error);
  state.spawn(state.accept(added));
  return {};
}

}  // namespace reprise::dns
