#pragma once

#include <optional>

#include "archive/import/collect/collector.h"
#include "archive/import/source/json_reader.h"

namespace reprise::importing {

/// The next element of `_webSocketMessages`, as Chrome writes them: `time` in seconds since 1970,
/// binary messages as base64. Nothing if it is not such a message; it is then skipped.
std::optional<MessageDraft> read_har_message(JsonReader& json);

}  // namespace reprise::importing
