#pragma once

#include <optional>

#include "archive/import/collector.h"
#include "archive/import/json_reader.h"

namespace reprise::importing {

/// The next element of `_webSocketMessages`, as Chrome writes them: `time` in seconds since 1970,
/// what is no text as base64. Nothing when it is no such message; it is skipped then.
std::optional<MessageDraft> read_har_message(JsonReader& json);

}  // namespace reprise::importing
