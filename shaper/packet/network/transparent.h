#pragma once

#include <cstdint>
#include <optional>

namespace reprise {

/// Leads every TCP connection that enters this network namespace to `listener`, a TCP socket with
/// IP_TRANSPARENT, whatever port it asks for but `apart`, which is left to its own listener;
/// getsockname(2) on the accepted socket tells which. By TPROXY of nf_tables, through netlink.
/// False where the kernel has none or allows none.
bool lead_all_tcp_to(int listener, std::optional<std::uint16_t> apart);

}  // namespace reprise
