#pragma once

#include "base/result.h"

namespace reprise {

/// Denies socket(2) and connect(2) (and io_uring, which could do both unseen) to this process, all
/// its threads and children, permanently, by a seccomp filter (seccomp(2)): a replay cannot reach
/// the network, whatever defects it has. Without socket(2) no datagram can be sent, and no
/// connection can be opened by sending (MSG_FASTOPEN). Accepting still works. Call it after the
/// listeners are bound and before threads are started. Errors: the system error if the kernel has
/// no seccomp.
Result<void> deny_outgoing_connections();

}  // namespace reprise
