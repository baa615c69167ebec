#pragma once

#include <string>

#include "archive/import/collect/collector.h"
#include "archive/import/source/json_reader.h"

namespace reprise::importing {

/// The longest text read from a HAR, except bodies.
inline constexpr std::size_t kHarTextBytesMax = 1 << 20;

/// The next value as text. Empty, with a remark, if it is longer than kHarTextBytesMax.
std::string read_har_text(JsonReader& json, ImportReport& report);

/// The next value as a list of header fields.
Fields read_har_fields(JsonReader& json, ImportReport& report);

/// The next value as `creator` or `browser`: a name and a version, of each at most 100 bytes.
std::string read_har_tool(JsonReader& json);

}  // namespace reprise::importing
