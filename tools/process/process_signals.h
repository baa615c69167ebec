#pragma once

#include <signal.h>

#include <optional>

namespace reprise {

// SIGINT, SIGTERM, SIGHUP and SIGCHLD. main() blocks them before anything else, so that no thread
// takes one away from the event loop that waits for it (SignalEvents), and none ends the process
// half-way. A SIGHUP that was ignored when the process started, as under nohup(1), stays ignored.

/// Blocks them in the only thread that there is; later threads inherit that. From then on a file
/// that outgrows the user's limit (SIGXFSZ) is an error of write(2), too. Once, first in main().
/// Aborts when there are other threads already.
void block_signals();

/// Those that block_signals() has blocked.
const sigset_t& blocked_signals();

/// Gives the calling thread the signal mask that the process was started with. For forked children
/// before they execute another program, and for commands that no event loop serves.
/// Async-signal-safe.
void restore_signal_mask();

/// That mask; after block_signals().
const sigset_t& signal_mask_at_start();

/// Whether this process has a terminal that types signals to its process group. Without one, a
/// command gets a group of its own, so that a signal to it reaches all that it runs: a shell that
/// waits for its child does not end for a SIGINT that the child does not get.
bool has_terminal();

/// The number of a signal that waits and asks the process to end: SIGINT, SIGTERM or SIGHUP.
std::optional<int> waiting_signal();

}  // namespace reprise
