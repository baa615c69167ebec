#pragma once

#include <string_view>

#include "shaper/packet/network/shell_error.h"

namespace reprise {

/// The feature of a device that takes super-packets of UDP (UDP_SEGMENT) whole.
inline constexpr std::string_view kUdpSegmentation = "tx-udp-segmentation";

/// Whether a kernel of this release (uname -r) passes super-packets of UDP through a packet socket
/// with PACKET_VNET_HDR. Linux before 6.2 drops them, received or sent: the header has no type for
/// them until the commit "Support USO offload in vnet header". False for a release that cannot be
/// read: it is always correct to cut them before the device, only slower.
bool carries_udp_segments(std::string_view release);
/// The same for the running kernel.
bool kernel_carries_udp_segments();

/// Switches off a feature of `device` in the network namespace of this thread, as `ethtool -K`
/// does; `feature` is a name that `ethtool -k` prints. A feature that the kernel does not know is
/// off. Needs CAP_NET_ADMIN there. Errors: those of ioctl(2); EOPNOTSUPP if it stays on.
ShellResult<void> switch_off_feature(const char* device, std::string_view feature);

}  // namespace reprise
