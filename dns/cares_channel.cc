#include "dns/cares_channel.h"

#include <algorithm>
#include <cstring>

#include "dns/error.h"

namespace reprise::dns {
namespace {

namespace ip = boost::asio::ip;

constexpr int kTries = 2;
constexpr std::uint16_t kDnsPort = 53;

/// Calls ares_library_init(3) once per process; on Linux there is nothing to undo.
bool init_library() {
  static const bool ready = ::ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
  return ready;
}

ares_addr_port_node node_of(const ip::udp::endpoint& at) {
  ares_addr_port_node node{};
  node.udp_port = node.tcp_port = at.port();
  if (at.address().is_v4()) {
    auto const bytes = at.address().to_v4().to_bytes();
    node.family = AF_INET;
    std::memcpy(&node.addr.addr4, bytes.data(), bytes.size());
  } else {
    auto const bytes = at.address().to_v6().to_bytes();
    node.family = AF_INET6;
    std::memcpy(&node.addr.addr6, bytes.data(), bytes.size());
  }
  return node;
}

ip::udp::endpoint endpoint_of(const ares_addr_port_node& node) {
  auto const port = static_cast<std::uint16_t>(node.udp_port == 0 ? kDnsPort : node.udp_port);
  if (node.family == AF_INET) {
    ip::address_v4::bytes_type bytes;
    std::memcpy(bytes.data(), &node.addr.addr4, bytes.size());
    return {ip::address_v4(bytes), port};
  }
  ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &node.addr.addr6, bytes.size());
  return {ip::address_v6(bytes), port};
}

/// Whether a query to `server` would reach our own listener; a listener on any address covers all
/// loopback addresses.
bool leads_to(const ip::udp::endpoint& server, const ip::udp::endpoint& own) {
  if (server.port() != own.port()) return false;
  return server.address() == own.address() ||
         (own.address().is_unspecified() && server.address().is_loopback());
}

}  // namespace

CaresChannel::CaresChannel(boost::asio::io_context& context) : context_(context), timer_(context) {}

CaresChannel::~CaresChannel() {
  stop();
}

Result<std::shared_ptr<CaresChannel>> CaresChannel::create(boost::asio::io_context& context,
                                                           const Endpoints& servers,
                                                           const Endpoints& own,
                                                           std::chrono::milliseconds try_timeout,
                                                           Failures failures) {
  std::shared_ptr<CaresChannel> channel(new CaresChannel(context));
  ares_options options{};
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  // Without ARES_FLAG_EDNS, c-ares takes a UDP response of more than 512 bytes for a truncated one.
  // With it, c-ares removes the last 11 bytes of a query that gets FORMERR, which must be an OPT
  // record, sends it again, and clears the flag.
  options.flags |= failures == Failures::kReport ? ARES_FLAG_NOCHECKRESP : ARES_FLAG_EDNS;
  options.ednspsz = kUdpBytesMax;
  options.timeout = static_cast<int>(try_timeout.count());
  options.tries = kTries;
  options.sock_state_cb_data = channel.get();
  options.sock_state_cb = [](void* self, ares_socket_t socket, int read, int write) {
    static_cast<CaresChannel*>(self)->on_socket(socket, read != 0, write != 0);
  };
  int const mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
                   ARES_OPT_SOCK_STATE_CB;
  if (!init_library() || ::ares_init_options(&channel->channel_, &options, mask) != ARES_SUCCESS) {
    channel->channel_ = nullptr;
    return fail(std::make_error_code(std::errc::not_enough_memory));
  }
  if (auto const set = channel->set_servers(servers, own); !set) return fail(set.error());
  return channel;
}

Result<CaresChannel::Endpoints> CaresChannel::servers() const {
  ares_addr_port_node* first = nullptr;
  if (::ares_get_servers_ports(channel_, &first) != ARES_SUCCESS) {
    return fail(std::make_error_code(std::errc::not_enough_memory));
  }
  Endpoints servers;
  for (auto* node = first; node != nullptr; node = node->next) {
    servers.push_back(endpoint_of(*node));
  }
  ::ares_free_data(first);
  return servers;
}

Result<void> CaresChannel::set_servers(Endpoints servers, const Endpoints& own) {
  if (servers.empty()) {
    auto of_system = this->servers();
    if (!of_system) return fail(of_system.error());
    servers = std::move(*of_system);
  }
  std::erase_if(servers, [&](const auto& server) {
    return std::ranges::any_of(own, [&](const auto& at) { return leads_to(server, at); });
  });
  if (servers.empty()) return fail(errc::no_servers);
  std::vector<ares_addr_port_node> nodes;
  for (const auto& server : servers) nodes.push_back(node_of(server));
  for (std::size_t i = 1; i < nodes.size(); ++i) nodes[i - 1].next = &nodes[i];
  if (::ares_set_servers_ports(channel_, nodes.data()) == ARES_SUCCESS) return {};
  return fail(std::make_error_code(std::errc::not_enough_memory));
}

void CaresChannel::send(std::span<const std::uint8_t> query, Done done) {
  if (channel_ == nullptr) return done(ARES_EDESTRUCTION, {});
  auto const call = [](void* argument, int status, int, unsigned char* bytes, int size) {
    std::unique_ptr<Done> const owned(static_cast<Done*>(argument));
    (*owned)(status, {bytes, bytes == nullptr ? 0 : static_cast<std::size_t>(size)});
  };
  ::ares_send(channel_, query.data(), static_cast<int>(query.size()), call,
              new Done(std::move(done)));
  set_timer();
}

void CaresChannel::cancel() {
  if (channel_ == nullptr) return;
  ::ares_cancel(channel_);
  set_timer();
}

void CaresChannel::stop() {
  timer_.cancel();
  // Also closes the sockets, which calls on_socket().
  if (channel_ != nullptr) ::ares_destroy(std::exchange(channel_, nullptr));
}

void CaresChannel::on_socket(ares_socket_t socket, bool read, bool write) {
  auto const at = watched_.find(socket);
  if (!read && !write) {
    if (at == watched_.end()) return;
    // c-ares closes the socket right after this, and the next one may have the same number.
    at->second->open = false;
    at->second->descriptor.release();
    watched_.erase(at);
    return;
  }
  auto watched = at != watched_.end() ? at->second : nullptr;
  if (watched == nullptr) {
    watched = std::make_shared<Watched>(boost::asio::posix::stream_descriptor(context_));
    boost::system::error_code error;
    watched->descriptor.assign(socket, error);
    if (error) return;  // the kernel is out of memory: the query ends by its timeout
    watched_.emplace(socket, watched);
  }
  watched->wants_read = read;
  watched->wants_write = write;
  watch(socket, watched);
}

void CaresChannel::watch(ares_socket_t socket, const std::shared_ptr<Watched>& watched) {
  using Descriptor = boost::asio::posix::stream_descriptor;
  auto const wait = [&](Descriptor::wait_type what, bool Watched::* waiting, bool is_read) {
    watched.get()->*waiting = true;
    watched->descriptor.async_wait(what, [weak = weak_from_this(), watched, waiting, is_read,
                                          socket](boost::system::error_code error) {
      watched.get()->*waiting = false;
      auto const self = weak.lock();
      if (error || !watched->open || self == nullptr) return;
      self->process(is_read ? socket : ARES_SOCKET_BAD, is_read ? ARES_SOCKET_BAD : socket);
      if (watched->open) self->watch(socket, watched);
    });
  };
  if (watched->wants_read && !watched->reading) {
    wait(Descriptor::wait_read, &Watched::reading, true);
  }
  if (watched->wants_write && !watched->writing) {
    wait(Descriptor::wait_write, &Watched::writing, false);
  }
}

void CaresChannel::process(ares_socket_t read, ares_socket_t write) {
  if (channel_ == nullptr) return;
  ::ares_process_fd(channel_, read, write);
  set_timer();
}

void CaresChannel::set_timer() {
  timeval room{};
  if (channel_ == nullptr || ::ares_timeout(channel_, nullptr, &room) == nullptr) {
    timer_.cancel();
    return;
  }
  timer_.expires_after(std::chrono::seconds(room.tv_sec) + std::chrono::microseconds(room.tv_usec));
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    auto const self = weak.lock();
    if (!error && self != nullptr) self->process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  });
}

}  // namespace reprise::dns
