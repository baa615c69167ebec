#pragma once

#include <string>
#include <vector>

#include "base/system/descriptor.h"
#include "shaper/packet/network/shell_error.h"
#include "shaper/packet/network/shell_options.h"

namespace reprise {

/// What the builder of a shell's network hands to those who use it. All but the descriptors of the
/// namespaces are sockets that stay where they were made, whoever holds them.
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
  std::vector<Descriptor> listeners;  ///< in S: TCP in the order wanted, then the names'
  int client_index = 0;               ///< interface indices in L
  int server_index = 0;
  int client_near_index = 0;  ///< in C
  int server_near_index = 0;  ///< in S
  bool all_tcp_ports = false;
};

/// How many of the listeners answer DNS, where that is wanted: TCP, then UDP.
inline constexpr std::size_t kNameSockets = 2;

/// Builds it. To be called in a process of its own with one thread, which has the capabilities over
/// its user and mount namespaces and ends up in C. The errors name the step.
ShellResult<BuiltNetwork> build_network(const PacketShellOptions& options);

}  // namespace reprise
