#pragma once

// The files of a packet shell's mount namespace that differ from the host's.

#include <string>

#include "shaper/packet/network/shell_error.h"

namespace reprise {

/// Writes one setting of the kernel, such as /proc/sys/net/ipv4/tcp_no_metrics_save.
ShellResult<void> write_setting(const std::string& path, const std::string& value);

/// Cuts this process's mount namespace off from its parent's, and mounts the /proc of its pid
/// namespace where the system allows it (elsewhere the host's stays: /proc/self works in it, too).
ShellResult<void> make_mounts_private();

/// /etc/resolv.conf becomes a file that names kServerAddress; the sockets of the resolvers that the
/// C library would ask past it (nscd, systemd-resolved) become unreachable. Nothing changes outside
/// the mount namespace, and nothing is written to any disk.
ShellResult<void> mount_resolver_settings();

}  // namespace reprise
