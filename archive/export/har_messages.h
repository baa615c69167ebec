#pragma once

#include "archive/export/job.h"
#include "archive/export/text.h"

namespace reprise::exporting {

/// Writes the WebSocket messages of `exchange` into its entry, as Chrome does. Messages over 64
/// MiB, and the fact that a side ended the connection, cannot be written. False if data is damaged.
bool write_har_messages(Job& job, const Exchange& exchange, JsonWriter& json);

}  // namespace reprise::exporting
