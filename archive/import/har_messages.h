#pragma once

#include <optional>

#include "archive/import/collect/collector.h"
#include "archive/import/source/json_reader.h"

namespace reprise::importing {

/// The longest text that is read of a HAR, bodies apart.
inline constexpr std::size_t kHarTextBytesMax = 1 << 20;

/// The next element of `_webSocketMessages`, as Chrome writes them: `time` in seconds since 1970,
/// what is no text as base64. Nothing when it is no such message; it is skipped then.
std::optional<MessageDraft> read_har_message(JsonReader& json);

}  // namespace reprise::importing
