#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// What a packet shell should offer on the far side of its link.
struct PacketShellOptions {
  /// Of the server namespace and of the client's: cubic, bbr or reno, if the kernel has it.
  std::string congestion = "cubic";
  /// One TCP listener that takes connections to every port of every address. Needs nf_tables with
  /// TPROXY in the kernel; without it, those of tcp_ports are made instead.
  bool all_tcp_ports = false;
  /// A TCP listener for each, on every address.
  std::vector<std::uint16_t> tcp_ports;
  /// What the kernel may hold of an accepted connection without having sent it
  /// (TCP_NOTSENT_LOWAT); 0: as much as it likes. A server that puts urgent responses first wants
  /// it small.
  int unsent_bytes_max = 0;
  /// What answers DNS, at port 53 of every address: a TCP listener, whatever else all_tcp_ports
  /// takes, and a UDP socket with IP_PKTINFO.
  bool names = false;
  /// The command finds a resolv.conf that names kServerAddress, and no other way to a resolver.
  bool own_resolver = true;
  /// The command is the leader of a process group, and signal() reaches all of it.
  bool own_group = false;
  /// The signal mask of the command; without one, the caller's.
  std::optional<sigset_t> command_signals;
};

/// More is a mistake.
inline constexpr std::size_t kShellPortsMax = 64;

}  // namespace reprise
