#pragma once

#include "base/result.h"

namespace reprise {

/// Denies socket(2) and connect(2) (and io_uring, which could do both unseen) to this process, all
/// its threads and children, for good, by a seccomp filter (seccomp(2)): a replay cannot reach the
/// network whatever a defect tries. Without socket(2) there is nothing to send datagrams from, or
/// to open a connection with by sending (MSG_FASTOPEN). Accepting goes on. To be called once the
/// listeners are bound and before threads are made.
/// Errors: the system error, when the kernel has no seccomp.
Result<void> deny_outgoing_connections();

}  // namespace reprise
