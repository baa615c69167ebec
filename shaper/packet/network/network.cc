#include "shaper/packet/network/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <tuple>

#include "shaper/packet/network/datagram.h"
#include "shaper/packet/network/device_features.h"
#include "shaper/packet/network/netlink.h"
#include "shaper/packet/network/private_files.h"
#include "shaper/packet/network/topology.h"
#include "shaper/packet/network/transparent.h"

namespace reprise {
namespace {

constexpr std::uint16_t kCreate = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
constexpr int kBacklog = 4096;
constexpr const char* kNotSentLowBytes = "16384";

ShellResult<Descriptor> current_network() {
  Descriptor network(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!network.is_open()) return shell_failure("/proc/self/ns/net cannot be opened");
  return network;
}

ShellResult<Descriptor> new_network() {
  if (::unshare(CLONE_NEWNET) != 0) return shell_failure("a network namespace cannot be made");
  return current_network();
}

ShellResult<void> enter(const Descriptor& network) {
  if (::setns(network.get(), CLONE_NEWNET) != 0) {
    return shell_failure("a network namespace cannot be entered");
  }
  return {};
}

ShellResult<NetlinkSocket> open_netlink() {
  auto socket = NetlinkSocket::open(NETLINK_ROUTE);
  if (!socket) {
    return shell_failure("a netlink socket cannot be opened", {}, socket.error().value());
  }
  return std::move(*socket);
}

ShellResult<void> told(std::expected<void, std::error_code> answer, const std::string& what) {
  if (!answer) return shell_failure(what, {}, answer.error().value());
  return {};
}

ifinfomsg device_header(int index, unsigned flags = 0, unsigned changed = 0) {
  return {.ifi_family = AF_UNSPEC,
          .__ifi_pad = 0,
          .ifi_type = 0,
          .ifi_index = index,
          .ifi_flags = flags,
          .ifi_change = changed};
}

/// In L: a pair of devices, one here with `name`, the other kNearDevice in `near_network`.
ShellResult<int> add_pair(NetlinkSocket& netlink, const char* name,
                          const Descriptor& near_network) {
  NetlinkMessage message(RTM_NEWLINK, kCreate);
  message.fixed(device_header(0))
      .text(IFLA_IFNAME, name)
      .number(IFLA_MTU, kLinkMtuBytes)
      .attribute(IFLA_ADDRESS, std::as_bytes(std::span(kFarMac)))
      .number<std::uint32_t>(IFLA_NUM_TX_QUEUES, 1)
      .number<std::uint32_t>(IFLA_NUM_RX_QUEUES, 1);
  auto const info = message.open(IFLA_LINKINFO);
  message.text(IFLA_INFO_KIND, "veth");
  auto const data = message.open(IFLA_INFO_DATA);
  auto const peer = message.open(VETH_INFO_PEER);
  message.fixed(device_header(0))
      .text(IFLA_IFNAME, kNearDevice)
      .number(IFLA_MTU, kLinkMtuBytes)
      .attribute(IFLA_ADDRESS, std::as_bytes(std::span(kNearMac)))
      .number<std::uint32_t>(IFLA_NUM_TX_QUEUES, 1)
      .number<std::uint32_t>(IFLA_NUM_RX_QUEUES, 1)
      .number<std::uint32_t>(IFLA_NET_NS_FD, static_cast<std::uint32_t>(near_network.get()));
  message.close(peer);
  message.close(data);
  message.close(info);
  if (auto const answer = netlink.request(std::move(message)); !answer) {
    return shell_failure("a pair of veth devices cannot be made",
                         "sudo modprobe veth, if it is a kernel module", answer.error().value());
  }
  auto const index = static_cast<int>(::if_nametoindex(name));
  if (index == 0) return shell_failure(std::string("device ") + name + " cannot be found");
  return index;
}

ShellResult<int> bring_up(NetlinkSocket& netlink, const char* name, bool arp) {
  auto const index = static_cast<int>(::if_nametoindex(name));
  if (index == 0) return shell_failure(std::string("device ") + name + " cannot be found");
  NetlinkMessage message(RTM_NEWLINK, NLM_F_ACK);
  message.fixed(device_header(index, IFF_UP | (arp ? 0U : IFF_NOARP), IFF_UP | IFF_NOARP));
  auto const answer = told(netlink.request(std::move(message)),
                           std::string("device ") + name + " cannot be switched on");
  if (!answer) return std::unexpected(answer.error());
  return index;
}

ShellResult<void> add_address(NetlinkSocket& netlink, int device, std::uint32_t address) {
  NetlinkMessage message(RTM_NEWADDR, kCreate);
  message
      .fixed(ifaddrmsg{.ifa_family = AF_INET,
                       .ifa_prefixlen = 32,
                       .ifa_flags = 0,
                       .ifa_scope = RT_SCOPE_UNIVERSE,
                       .ifa_index = static_cast<std::uint32_t>(device)})
      .number(IFA_LOCAL, htonl(address))
      .number(IFA_ADDRESS, htonl(address));
  return told(netlink.request(std::move(message)), "an address cannot be given to a device");
}

/// Routes everything (`prefix` 0) or one address (32) through `device`, or as local. If not empty,
/// `congestion` applies to TCP over the route: unlike the sysctl, a route may name one that the
/// host reserves for its administrator.
ShellResult<void> add_route(NetlinkSocket& netlink, int device, std::uint32_t to,
                            std::uint8_t prefix, std::uint8_t type,
                            const std::string& congestion = {}) {
  NetlinkMessage message(RTM_NEWROUTE, kCreate);
  message.fixed(rtmsg{
      .rtm_family = AF_INET,
      .rtm_dst_len = prefix,
      .rtm_src_len = 0,
      .rtm_tos = 0,
      .rtm_table = RT_TABLE_MAIN,
      .rtm_protocol = RTPROT_STATIC,
      .rtm_scope = static_cast<std::uint8_t>(type == RTN_LOCAL ? RT_SCOPE_HOST : RT_SCOPE_LINK),
      .rtm_type = type,
      .rtm_flags = 0});
  if (prefix > 0) message.number(RTA_DST, htonl(to));
  message.number<std::uint32_t>(RTA_OIF, static_cast<std::uint32_t>(device));
  if (congestion.empty()) return told(netlink.request(std::move(message)), "a route cannot be set");
  auto const metrics = message.open(RTA_METRICS);
  message.text(RTAX_CC_ALGO, congestion);
  message.close(metrics);
  if (auto const answer = netlink.request(std::move(message)); !answer) {
    return shell_failure("a route with TCP's congestion control " + congestion + " cannot be set",
                         "sudo modprobe tcp_" + congestion, answer.error().value());
  }
  return {};
}

/// Settings of this process's namespace.
ShellResult<void> tune() {
  struct Setting {
    const char* name;
    std::string value;
    bool needed;
  };
  auto const group = std::to_string(::getgid());
  const Setting settings[] = {
      {"ipv4/conf/all/rp_filter", "0", true},
      {"ipv4/conf/link0/rp_filter", "0", true},
      {"ipv6/conf/link0/disable_ipv6", "1", false},  // a kernel without IPv6
      {"ipv4/tcp_no_metrics_save", "1", true},
      {"ipv4/tcp_notsent_lowat", kNotSentLowBytes, true},
      {"ipv4/ping_group_range", group + " " + group, false},
  };
  for (const Setting& setting : settings) {
    auto const done = write_setting(std::string("/proc/sys/net/") + setting.name, setting.value);
    if (!done && setting.needed) return done;
  }
  return {};
}

/// In C or in S: loopback and the near device, with `address`. Returns the device's index.
ShellResult<int> set_up_side(NetlinkSocket& netlink, std::uint32_t address, bool udp_segments) {
  if (auto const loopback = bring_up(netlink, "lo", true); !loopback) return loopback;
  if (auto const tuned = tune(); !tuned) return std::unexpected(tuned.error());
  // veth takes a burst of QUIC whole, and before Linux 6.2 the packet sockets in L drop it.
  if (!udp_segments) {
    if (auto const off = switch_off_feature(kNearDevice, kUdpSegmentation); !off) {
      return std::unexpected(off.error());
    }
  }
  auto const device = bring_up(netlink, kNearDevice, false);
  if (!device) return device;
  if (auto const given = add_address(netlink, *device, address); !given) {
    return std::unexpected(given.error());
  }
  return device;
}

sockaddr_in ipv4(std::uint32_t address, std::uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(address);
  name.sin_port = htons(port);
  return name;
}

ShellResult<Descriptor> open_bound(int type, std::uint32_t address, std::uint16_t port,
                                   bool transparent = false) {
  Descriptor socket(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int const on = 1;
  auto const name = ipv4(address, port);
  auto const what = "port " + std::to_string(port) + " cannot be opened behind the link";
  if (!socket.is_open()) return shell_failure(what);
  if (type == SOCK_STREAM) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  } else {
    Datagram::prepare(socket.get());
  }
  if (transparent && ::setsockopt(socket.get(), IPPROTO_IP, IP_TRANSPARENT, &on, sizeof on) != 0) {
    return shell_failure("IP_TRANSPARENT is not permitted");
  }
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      (type == SOCK_STREAM && ::listen(socket.get(), kBacklog) != 0)) {
    return shell_failure(what);
  }
  return socket;
}

/// Sockets inherit it from their listener.
void limit_unsent(const Descriptor& listener, int bytes_max) {
  if (bytes_max == 0) return;
  ::setsockopt(listener.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes_max, sizeof bytes_max);
}

/// In S.
ShellResult<void> open_listeners(const PacketShellOptions& options, BuiltNetwork& network) {
  if (options.tcp_ports.size() + options.udp_ports.size() > kShellPortsMax) {
    return shell_failure("cannot open that many ports behind the link", {}, E2BIG);
  }
  if (options.all_tcp_ports) {
    auto listener = open_bound(SOCK_STREAM, INADDR_ANY, 0, true);
    if (listener) limit_unsent(*listener, options.unsent_bytes_max);
    auto const apart = options.names ? std::optional(kNamesPort) : std::nullopt;
    if (listener && lead_all_tcp_to(listener->get(), apart)) {
      network.all_tcp_ports = true;
      network.listeners.push_back(std::move(*listener));
    }
  }
  for (const std::uint16_t port : options.tcp_ports) {
    if (network.all_tcp_ports) break;
    if (options.names && port == kNamesPort) continue;  // it has its own
    auto listener = open_bound(SOCK_STREAM, INADDR_ANY, port);
    if (!listener) return std::unexpected(listener.error());
    limit_unsent(*listener, options.unsent_bytes_max);
    network.listeners.push_back(std::move(*listener));
  }
  for (const std::uint16_t port : options.udp_ports) {
    auto socket = open_bound(SOCK_DGRAM, INADDR_ANY, port);
    if (!socket) return std::unexpected(socket.error());
    network.listeners.push_back(std::move(*socket));
  }
  if (!options.names) return {};
  for (int const type : {SOCK_STREAM, SOCK_DGRAM}) {
    auto socket = open_bound(type, INADDR_ANY, kNamesPort);
    if (!socket) return std::unexpected(socket.error());
    network.listeners.push_back(std::move(*socket));
  }
  return {};
}

ShellResult<Descriptor> open_packets() {
  Descriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) {
    return shell_failure("an AF_PACKET socket cannot be opened",
                         "a kernel with CONFIG_PACKET; in a container, a seccomp profile that "
                         "allows it");
  }
  return socket;
}

/// In L, after C and S.
ShellResult<void> build_link(BuiltNetwork& network) {
  auto netlink = open_netlink();
  if (!netlink) return std::unexpected(netlink.error());
  for (auto const& [name, near, index, packets] :
       {std::tuple(kClientDevice, &network.client_namespace, &network.client_index,
                   &network.client_packets),
        std::tuple(kServerDevice, &network.server_namespace, &network.server_index,
                   &network.server_packets)}) {
    auto const made = add_pair(*netlink, name, *near);
    if (!made) return std::unexpected(made.error());
    *index = *made;
    // No packets of L itself may cross.
    static_cast<void>(
        write_setting(std::string("/proc/sys/net/ipv6/conf/") + name + "/disable_ipv6", "1"));
    if (auto const up = bring_up(*netlink, name, false); !up) return std::unexpected(up.error());
    auto socket = open_packets();
    if (!socket) return std::unexpected(socket.error());
    *packets = std::move(*socket);
  }
  network.link_netlink = netlink->take_socket();
  return {};
}

ShellResult<void> build_server(const PacketShellOptions& options, BuiltNetwork& network) {
  if (auto const in = enter(network.server_namespace); !in) return in;
  auto netlink = open_netlink();
  if (!netlink) return std::unexpected(netlink.error());
  auto const device = set_up_side(*netlink, kServerAddress, options.udp_segments);
  if (!device) return std::unexpected(device.error());
  network.server_near_index = *device;
  auto const loopback = static_cast<int>(::if_nametoindex("lo"));
  if (auto const back =
          add_route(*netlink, *device, kClientAddress, 32, RTN_UNICAST, options.congestion);
      !back) {
    return back;
  }
  if (auto const all = add_route(*netlink, loopback, 0, 0, RTN_LOCAL); !all) return all;
  network.server_netlink = netlink->take_socket();
  auto probe = open_bound(SOCK_DGRAM, kServerAddress, 0);
  if (!probe) return std::unexpected(probe.error());
  network.server_probe = std::move(*probe);
  return open_listeners(options, network);
}

ShellResult<void> build_client(const PacketShellOptions& options, BuiltNetwork& network) {
  if (auto const in = enter(network.client_namespace); !in) return in;
  auto netlink = open_netlink();
  if (!netlink) return std::unexpected(netlink.error());
  auto const device = set_up_side(*netlink, kClientAddress, options.udp_segments);
  if (!device) return std::unexpected(device.error());
  network.client_near_index = *device;
  if (auto const all = add_route(*netlink, *device, 0, 0, RTN_UNICAST, options.congestion); !all)
    return all;
  network.client_netlink = netlink->take_socket();
  auto probe = open_bound(SOCK_DGRAM, kClientAddress, 0);
  if (!probe) return std::unexpected(probe.error());
  network.client_probe = std::move(*probe);
  return {};
}

/// Connects each probe to the other.
ShellResult<void> join_probes(const BuiltNetwork& network) {
  for (auto const& [from, to] : {std::pair(&network.client_probe, &network.server_probe),
                                 std::pair(&network.server_probe, &network.client_probe)}) {
    sockaddr_in name{};
    socklen_t size = sizeof name;
    if (::getsockname(to->get(), reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
        ::connect(from->get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
      return shell_failure("the probes of the link cannot be joined");
    }
  }
  return {};
}

}  // namespace

ShellResult<BuiltNetwork> build_network(const PacketShellOptions& options) {
  BuiltNetwork network;
  for (Descriptor* const place : {&network.client_namespace, &network.server_namespace}) {
    auto made = new_network();
    if (!made) return std::unexpected(made.error());
    *place = std::move(*made);
  }
  // L has no name: its packet sockets keep it alive.
  if (auto const link = new_network(); !link) return std::unexpected(link.error());
  if (auto const link = build_link(network); !link) return std::unexpected(link.error());
  if (auto const server = build_server(options, network); !server) {
    return std::unexpected(server.error());
  }
  if (auto const client = build_client(options, network); !client) {
    return std::unexpected(client.error());
  }
  if (auto const joined = join_probes(network); !joined) return std::unexpected(joined.error());
  return network;
}

}  // namespace reprise
