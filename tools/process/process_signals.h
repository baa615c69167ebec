#pragma once

#include <signal.h>

#include <optional>

namespace reprise {

// SIGINT, SIGTERM, SIGHUP and SIGCHLD. main() blocks them first, so that no thread takes one from
// the event loop that waits for it (SignalEvents), and none ends the process half-way. A SIGHUP
// that was ignored when the process started, as under nohup(1), stays ignored; a SIGCHLD that was
// ignored does not, here and in what this process starts.

/// Blocks them in the only thread; later threads inherit that. From then on a file that exceeds the
/// user's limit (SIGXFSZ) is an error of write(2), too. Call it once, first in main(). Aborts if
/// there are other threads.
void block_signals();

/// The signals that block_signals() has blocked.
const sigset_t& blocked_signals();

/// Restores, in the calling thread, the signal mask with which the process started. For forked
/// children before they execute another program, and for commands without an event loop.
/// Async-signal-safe.
void restore_signal_mask();

/// That mask; after block_signals().
const sigset_t& signal_mask_at_start();

/// Whether this process has a terminal that sends signals to its process group. Without one, a
/// command gets its own group, so that a signal to it reaches all its processes: a shell that waits
/// for its child does not end for a SIGINT that the child does not get.
bool has_terminal();

/// The number of a pending signal that asks the process to end: SIGINT, SIGTERM or SIGHUP.
std::optional<int> waiting_signal();

}  // namespace reprise
