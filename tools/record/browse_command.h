#pragma once

#include <string>
#include <vector>

#include "tools/record/record_command.h"

namespace reprise {

/// `record URL...` is `record -- reprise load --live URL... -- {chromium-flags}`: our own browser
/// is the command, which this returns.
std::vector<std::string> browse_command(const RecordOptions& options);

}  // namespace reprise
