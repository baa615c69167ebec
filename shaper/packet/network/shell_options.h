#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shaper/packet/network/device_features.h"

namespace reprise {

/// The far side of a packet shell's link.
struct PacketShellOptions {
  /// For the server's and the client's namespace: cubic, bbr or reno, if the kernel has it.
  std::string congestion = "cubic";
  /// One TCP listener for connections to every port of every address. Needs nf_tables with TPROXY
  /// in the kernel; without it, those of tcp_ports are created instead.
  bool all_tcp_ports = false;
  /// A TCP listener for each port, on every address.
  std::vector<std::uint16_t> tcp_ports;
  /// A UDP socket for each port, on every address.
  std::vector<std::uint16_t> udp_ports;
  /// The kernel's limit of unsent data per accepted connection (TCP_NOTSENT_LOWAT); 0: no limit. It
  /// should be small for a server that sends urgent responses first.
  int unsent_bytes_max = 0;
  /// Sockets for DNS, at port 53 of every address: a TCP listener, even with all_tcp_ports, and a
  /// UDP socket with IP_PKTINFO.
  bool names = false;
  /// The command's resolv.conf names kServerAddress and has these lines besides ("search LIST\n");
  /// it has no other way to a resolver.
  std::string resolver_settings;
  /// The command leads a process group, and signal() reaches the whole group.
  bool own_group = false;
  /// The signal mask of the command; nothing: the caller's.
  std::optional<sigset_t> command_signals;
  /// Super-packets of UDP enter the link whole. If false, the kernel cuts them before it.
  bool udp_segments = kernel_carries_udp_segments();
};

/// Where the sockets for DNS are; with `names`, tcp_ports may contain it, and udp_ports must not.
inline constexpr std::uint16_t kNamesPort = 53;

/// More ports are an error.
inline constexpr std::size_t kShellPortsMax = 64;

}  // namespace reprise
