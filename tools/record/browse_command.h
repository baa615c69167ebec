#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/record/record_command.h"

namespace reprise {

/// `record URL...` is `record -- reprise load --live URL... -- {chromium-flags}`: our own browser
/// is the command, which this returns.
std::vector<std::string> browse_command(const RecordOptions& options);

/// Why that cannot record: its browser is missing or is a Firefox, or its flags would lead it past
/// the recorder. Nothing if it can.
std::optional<CommandRefusal> refused_browser(const RecordOptions& options);

}  // namespace reprise
