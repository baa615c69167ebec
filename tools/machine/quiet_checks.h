#pragma once

// What keeps loads quiet on a busy machine, or disturbs each of them (analysis/disturbance.h).

#include <optional>

#include "base/system/thread_priority.h"
#include "tools/machine/check.h"

namespace reprise {

/// `threads`: what those of a link and of a replay get. `nice`: the value that a browser gets; none
/// if no other than this process's. `is_weighed`: ControlGroups::is_weighed. Pure.
Check priority_check(Priority threads, std::optional<int> nice, bool is_weighed);
/// Tries it in a process and a session of its own. Takes half a second at most.
Check check_priority();

/// `quota` of the control groups, in processors; none: unlimited. Pure.
Check quota_check(std::optional<double> quota);
Check check_quota();

}  // namespace reprise
