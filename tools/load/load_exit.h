#pragma once

// What the end of one load means for the command that asked for it.

#include "pageload/run/load_run.h"

namespace reprise {

/// The exit code (tools/commands.h) of a command that ends with `load`. kExitDone also for a page
/// that was served and did not load.
int exit_code_of(const MeasuredLoad& load);

/// Whether the next load would end the same way: without a page, with a replay that failed, or with
/// a file (--screenshot, --trace) that cannot be written.
bool is_hopeless(const MeasuredLoad& load);

}  // namespace reprise
