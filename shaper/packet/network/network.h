#pragma once

#include <string>
#include <vector>

#include "base/system/descriptor.h"
#include "shaper/packet/network/shell_error.h"
#include "shaper/packet/network/shell_options.h"

namespace reprise {

/// The result of building a shell's network. All descriptors except those of the namespaces are
/// sockets, which stay in the namespace where they were created, whoever holds them.
struct BuiltNetwork {
  Descriptor client_namespace;  ///< nsfs descriptors: they keep the devices alive
  Descriptor server_namespace;
  Descriptor client_packets;  ///< AF_PACKET sockets in L, not bound yet
  Descriptor server_packets;
  Descriptor client_netlink;  ///< NETLINK_ROUTE, for counters
  Descriptor server_netlink;
  Descriptor link_netlink;
  Descriptor client_probe;  ///< UDP sockets, connected to each other through the link
  Descriptor server_probe;
  std::vector<Descriptor> listeners;  ///< in S: TCP, then UDP, in the given order, then DNS
  int client_index = 0;               ///< interface indices in L
  int server_index = 0;
  int client_near_index = 0;  ///< in C
  int server_near_index = 0;  ///< in S
  bool all_tcp_ports = false;
};

/// How many of the listeners answer DNS, if requested: TCP, then UDP.
inline constexpr std::size_t kNameSockets = 2;

/// Builds the network. Call it in a separate process with one thread, which has the capabilities
/// over its user and mount namespaces and ends up in C. The errors name the step.
ShellResult<BuiltNetwork> build_network(const PacketShellOptions& options);

}  // namespace reprise
