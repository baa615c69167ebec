#pragma once

// The files of a packet shell's mount namespace that differ from the host's.

#include <string>

#include "shaper/packet/network/shell_error.h"

namespace reprise {

/// Writes one setting of the kernel, such as /proc/sys/net/ipv4/tcp_no_metrics_save.
ShellResult<void> write_setting(const std::string& path, const std::string& value);

/// Separates this process's mount namespace from its parent's, and mounts the /proc of its pid
/// namespace if the system permits it (otherwise the host's stays: /proc/self works in it, too).
ShellResult<void> make_mounts_private();

/// Replaces /etc/resolv.conf by a file that names kServerAddress, has an unanswered question asked
/// again after a second, and ends with the lines `more`; the sockets of resolvers that the C
/// library would ask instead (nscd, systemd-resolved) become unreachable. Changes nothing outside
/// the mount namespace, and writes nothing to a disk.
ShellResult<void> mount_resolver_settings(const std::string& more);

}  // namespace reprise
