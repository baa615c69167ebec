#pragma once

#include <string>

#include "archive/import/collect/collector.h"

namespace reprise::importing {

/// The size limit of one file in a mahimahi folder: it is held in memory.
inline constexpr std::size_t kMahimahiBytesMax = 256 << 20;

/// Reads one file from a folder of mahimahi's `mm-webrecord`: one exchange, as a protobuf message
/// (RequestResponse of http_record.proto). False if it is not one; `collector` may have failed,
/// too.
bool import_mahimahi(std::string_view file, Collector& collector);

}  // namespace reprise::importing
