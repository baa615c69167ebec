#pragma once

#include <cstdint>
#include <optional>

namespace reprise {

/// Leads every TCP connection that enters this network namespace to `listener`, a TCP socket with
/// IP_TRANSPARENT, except those to port `apart`, which has its own listener; getsockname(2) on the
/// accepted socket returns the requested port. Uses TPROXY of nf_tables, through netlink. False if
/// the kernel has no TPROXY, or does not permit it.
bool lead_all_tcp_to(int listener, std::optional<std::uint16_t> apart);

}  // namespace reprise
