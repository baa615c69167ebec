#pragma once

#include <optional>

#include "base/system/guarded_process.h"

namespace reprise {

/// Waits for a program that writes a file, under an Interruption. When this process is asked to
/// end, the program gets SIGTERM and 30 s, to complete its file; a second signal ends this process
/// and with it the program. Returns the wait status of GuardedProcess; nullopt if the program still
/// runs at the end of the 30 s or at `deadline`.
std::optional<int> wait_or_interrupt(GuardedProcess& process, GuardedProcess::TimePoint deadline);

}  // namespace reprise
