#pragma once

#include "archive/result.h"

namespace reprise {

/// Denies connect(2) (and io_uring, which could do it unseen) to this process, all its threads and
/// children, for good, by a seccomp filter (seccomp(2)): a replay cannot reach the network whatever
/// a defect tries. Accepting goes on. To be called before threads are made.
/// Errors: the system error, when the kernel has no seccomp.
Result<void> deny_outgoing_connections();

}  // namespace reprise
