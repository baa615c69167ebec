#pragma once

#include "archive/export/job.h"
#include "archive/export/text.h"

namespace reprise::exporting {

/// Writes what the WebSocket of `exchange` carried as Chrome does, into its entry; messages of more
/// than 64 MiB, and that a side ended the connection, have no place. False at damage.
bool write_har_messages(Job& job, const Exchange& exchange, JsonWriter& json);

}  // namespace reprise::exporting
