#pragma once

#include <sys/types.h>

#include "shaper/packet/network/shell_options.h"

namespace reprise {

/// The input of the process that builds a shell's network and then runs its command.
struct InitStart {
  int control = -1;         ///< its end of the channel (control_channel.h)
  bool own_user_namespace;  ///< whether it was cloned into one
  uid_t uid;                ///< the caller's
  gid_t gid;
};

/// The main function of that process, which is pid 1 of its pid namespace: builds the network,
/// reports it, waits for a command, runs it without capabilities under the caller's ids, reaps,
/// forwards signals, and ends with the command or with the caller. All processes of the command end
/// then, too.
[[noreturn]] void run_init(const InitStart& start, const PacketShellOptions& options);

}  // namespace reprise
